/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of files and folders, with full disks and read-only folders among them. */
#define _GNU_SOURCE 1
#include "base/fs.h"
#include "base/mem.h"
#include "base/testing.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define NOBODY 65534

static char *in_scratch(void **state, const char *name)
{
    return rh_path_join(*state, name);
}

static void assert_contents(const char *path, const char *expected)
{
    struct rh_strbuf sb = RH_STRBUF_INIT;
    assert_int_equal(rh_fs_read(path, &sb), RH_OK);
    assert_string_equal(rh_strbuf_text(&sb), expected);
    rh_strbuf_release(&sb);
}

static void put(const char *path, const char *text)
{
    assert_int_equal(rh_fs_write(path, text, strlen(text), 0666), RH_OK);
}

static void test_read_appends_all_sizes(void **state)
{
    char *path = in_scratch(state, "file");
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 300000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *bytes = rh_alloc(sizes[i]);
        memset(bytes, 'r', sizes[i]);
        assert_int_equal(rh_fs_write(path, bytes, sizes[i], 0666), RH_OK);
        struct rh_strbuf sb = RH_STRBUF_INIT;
        rh_strbuf_add(&sb, "->");
        assert_int_equal(rh_fs_read(path, &sb), RH_OK);
        assert_int_equal(sb.len, sizes[i] + 2);
        assert_memory_equal(sb.data, "->", 2);
        if (sizes[i] > 0)
            assert_memory_equal(sb.data + 2, bytes, sizes[i]);
        assert_int_equal(sb.data[sb.len], 0);
        rh_strbuf_release(&sb);
        free(bytes);
    }
    free(path);
}

static void test_read_of_sizeless_files(void **state)
{
    (void)state;
    struct rh_strbuf sb = RH_STRBUF_INIT;
    assert_int_equal(rh_fs_read("/proc/self/status", &sb), RH_OK);
    assert_memory_equal(sb.data, "Name:", 5);
    rh_strbuf_release(&sb);
    assert_int_equal(rh_fs_read("/dev/null", &sb), RH_OK);
    assert_string_equal(rh_strbuf_text(&sb), "");
    rh_strbuf_release(&sb);
}

static void test_read_failures(void **state)
{
    struct rh_strbuf sb = RH_STRBUF_INIT;
    char *missing = in_scratch(state, "missing");
    rh_strbuf_add(&sb, "kept");
    assert_int_equal(rh_fs_read(missing, &sb), RH_ERR_NOT_FOUND);
    assert_non_null(strstr(rh_error_text(), "/missing: No such file or directory"));
    assert_int_equal(rh_fs_read(*state, &sb), RH_ERR_IO);
    assert_non_null(strstr(rh_error_text(), "Is a directory"));
    assert_string_equal(rh_strbuf_text(&sb), "kept");
    rh_strbuf_release(&sb);
    free(missing);
}

static void test_map(void **state)
{
    char *path = in_scratch(state, "file");
    struct rh_fs_mapping mapping;
    put(path, "mapped");
    assert_int_equal(rh_fs_map(path, &mapping), RH_OK);
    assert_int_equal(mapping.len, 6);
    assert_memory_equal(mapping.data, "mapped", 6);
    rh_fs_unmap(&mapping);
    assert_null(mapping.data);
    rh_fs_unmap(&mapping);

    put(path, "");
    assert_int_equal(rh_fs_map(path, &mapping), RH_OK);
    assert_int_equal(mapping.len, 0);
    rh_fs_unmap(&mapping);

    assert_int_equal(rh_fs_map(*state, &mapping), RH_ERR_IO);
    assert_int_equal(rh_fs_map("/dev/null", &mapping), RH_ERR_INPUT);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rh_fs_map(path, &mapping), RH_ERR_NOT_FOUND);
    free(path);
}

static void test_commit_replaces_whole(void **state)
{
    char *path = in_scratch(state, "out");
    struct rh_file file;
    put(path, "old");
    assert_int_equal(rh_file_begin(&file, path, 0666), RH_OK);
    fprintf(file.stream, "new %d", 1);
    fflush(file.stream);
    assert_contents(path, "old");
    assert_int_equal(count_entries(*state), 2);
    assert_int_equal(rh_file_commit(&file), RH_OK);
    assert_contents(path, "new 1");
    assert_int_equal(count_entries(*state), 1);
    free(path);
}

static void test_abort_leaves_no_trace(void **state)
{
    char *path = in_scratch(state, "out");
    struct rh_file file;
    assert_int_equal(rh_file_begin(&file, path, 0666), RH_OK);
    fputs("half", file.stream);
    rh_file_abort(&file);
    assert_int_equal(count_entries(*state), 0);
    put(path, "old");
    assert_int_equal(rh_file_begin(&file, path, 0666), RH_OK);
    rh_file_abort(&file);
    assert_contents(path, "old");
    assert_int_equal(count_entries(*state), 1);
    free(path);
}

static void test_permissions_follow_the_umask(void **state)
{
    char *path = in_scratch(state, "out");
    struct stat info;
    mode_t before = umask(027);
    assert_int_equal(rh_fs_write(path, "", 0, 0666), RH_OK);
    assert_return_code(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(rh_fs_write(path, "", 0, 0777), RH_OK);
    assert_return_code(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0750);
    umask(before);
    free(path);
}

static void test_two_files_at_once(void **state)
{
    char *path = in_scratch(state, "same");
    struct rh_file first, second;
    assert_int_equal(rh_file_begin(&first, path, 0666), RH_OK);
    assert_int_equal(rh_file_begin(&second, path, 0666), RH_OK);
    fputs("first", first.stream);
    fputs("second", second.stream);
    assert_int_equal(rh_file_commit(&second), RH_OK);
    assert_contents(path, "second");
    assert_int_equal(rh_file_commit(&first), RH_OK);
    assert_contents(path, "first");
    assert_int_equal(count_entries(*state), 1);
    free(path);
}

/* What SQLite and linkers do: they write to the name, or even put another file there. */
static void test_another_writer_fills_the_temporary(void **state)
{
    char *path = in_scratch(state, "out"), *other = in_scratch(state, "other");
    struct rh_file file;
    assert_int_equal(rh_file_begin(&file, path, 0666), RH_OK);
    put(other, "by another");
    assert_return_code(rename(other, file.temp_path), 0);
    assert_int_equal(rh_file_commit(&file), RH_OK);
    assert_contents(path, "by another");
    assert_int_equal(count_entries(*state), 1);

    assert_int_equal(rh_file_begin(&file, path, 0666), RH_OK);
    assert_return_code(unlink(file.temp_path), 0);
    assert_int_equal(rh_file_commit(&file), RH_ERR_IO);
    assert_contents(path, "by another");
    free(path);
    free(other);
}

static void test_links_stay_links(void **state)
{
    char *link = in_scratch(state, "link"), *folder = in_scratch(state, "sub"),
         *target = in_scratch(state, "sub/target");
    struct stat info;
    assert_int_equal(rh_fs_make_dirs(folder), RH_OK);
    put(target, "old");
    assert_return_code(symlink("sub/target", link), 0);
    put(link, "new");
    assert_contents(target, "new");
    assert_return_code(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    free(link);
    free(folder);
    free(target);
}

static void test_begin_failures(void **state)
{
    char *deep = in_scratch(state, "no/such/out");
    struct rh_file file;
    assert_int_equal(rh_file_begin(&file, deep, 0666), RH_ERR_NOT_FOUND);
    assert_non_null(strstr(rh_error_text(), "cannot write"));
    assert_non_null(strstr(rh_error_text(), "no/such/out: No such file or directory"));
    assert_int_equal(rh_file_begin(&file, *state, 0666), RH_ERR_IO);
    assert_non_null(strstr(rh_error_text(), "Is a directory"));
    assert_int_equal(count_entries(*state), 0);
    free(deep);
}

/* Root may write anywhere, so as root this test lends itself to another user for the attempt. */
static void test_read_only_folder(void **state)
{
    char *folder = in_scratch(state, "locked"), *path = in_scratch(state, "locked/out");
    assert_return_code(chmod(*state, 0755), 0);
    assert_int_equal(rh_fs_make_dirs(folder), RH_OK);
    put(path, "old");
    assert_return_code(chmod(folder, 0555), 0);
    bool lent = geteuid() == 0;
    if (lent && seteuid(NOBODY) != 0)
        skip_for("root without the right to become someone else");
    struct rh_file file;
    enum rh_status status = rh_file_begin(&file, path, 0666);
    if (lent)
        assert_return_code(seteuid(0), 0);
    assert_int_equal(status, RH_ERR_IO);
    assert_non_null(strstr(rh_error_text(), "locked/out: Permission denied"));
    assert_contents(path, "old");
    assert_int_equal(count_entries(folder), 1);
    assert_return_code(chmod(folder, 0755), 0);
    free(folder);
    free(path);
}

/* A limit on file sizes is the full disk anyone can make. */
static enum rh_status write_beyond_limit(const char *path, size_t len, size_t piece)
{
    struct rlimit before, limit;
    assert_return_code(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){.rlim_cur = 10000, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    struct rh_file file;
    assert_int_equal(rh_file_begin(&file, path, 0666), RH_OK);
    assert_return_code(setrlimit(RLIMIT_FSIZE, &limit), 0);
    char *bytes = rh_calloc(1, piece);
    for (size_t done = 0; done < len; done += piece)
        fwrite(bytes, 1, piece, file.stream);
    enum rh_status status = rh_file_commit(&file);
    assert_return_code(setrlimit(RLIMIT_FSIZE, &before), 0);
    free(bytes);
    return status;
}

static void test_full_disk_keeps_the_old_file(void **state)
{
    char *path = in_scratch(state, "out");
    put(path, "old");
    static const size_t sizes[][2] = {
        {10001, 10001}, /* at the last moment */
        {500000, 100},  /* early, and forgotten by stdio since */
        {500000, 500000},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(write_beyond_limit(path, sizes[i][0], sizes[i][1]), RH_ERR_IO);
        assert_non_null(strstr(rh_error_text(), "/out: File too large"));
        assert_contents(path, "old");
        assert_int_equal(count_entries(*state), 1);
    }
    assert_int_equal(write_beyond_limit(path, 10000, 10000), RH_OK);
    free(path);
}

static void test_devices_are_written_in_place(void **state)
{
    (void)state;
    struct stat info;
    assert_int_equal(rh_fs_write("/dev/null", "x", 1, 0666), RH_OK);
    assert_return_code(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    if (access("/dev/full", W_OK) != 0)
        skip_for("a system without /dev/full");
    assert_int_equal(rh_fs_write("/dev/full", "x", 1, 0666), RH_ERR_IO);
    assert_string_equal(rh_error_text(), "cannot write /dev/full: No space left on device");
    assert_return_code(stat("/dev/full", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

/* Standard output redirected to a file must go on where it stands, not be replaced. */
static void test_standard_output_keeps_its_place(void **state)
{
    char *path = in_scratch(state, "redirected");
    int fd = open(path, O_WRONLY | O_CREAT, 0666), saved = dup(STDOUT_FILENO);
    assert_return_code(fd, 0);
    assert_int_equal(write(fd, "before ", 7), 7);
    fflush(stdout);
    dup2(fd, STDOUT_FILENO);
    enum rh_status status = rh_fs_write("/dev/stdout", "middle", 6, 0666);
    dup2(saved, STDOUT_FILENO);
    assert_int_equal(status, RH_OK);
    assert_int_equal(write(fd, " after", 6), 6);
    assert_contents(path, "before middle after");
    close(fd);
    close(saved);
    free(path);
}

static void test_temp_dirs_are_private_and_distinct(void **state)
{
    setenv("TMPDIR", *state, 1);
    char *first, *second;
    struct stat info;
    assert_int_equal(rh_fs_make_temp_dir(&first), RH_OK);
    assert_int_equal(rh_fs_make_temp_dir(&second), RH_OK);
    assert_string_not_equal(first, second);
    assert_memory_equal(first, *state, strlen(*state));
    assert_return_code(stat(first, &info), 0);
    assert_true(S_ISDIR(info.st_mode));
    assert_int_equal(info.st_mode & 0777, 0700);
    free(first);
    free(second);

    char *missing = in_scratch(state, "missing");
    setenv("TMPDIR", missing, 1);
    assert_int_equal(rh_fs_make_temp_dir(&first), RH_ERR_NOT_FOUND);
    assert_non_null(strstr(rh_error_text(), "/missing: No such file"));
    unsetenv("TMPDIR");
    free(missing);
}

static void test_remove_tree(void **state)
{
    char *tree = in_scratch(state, "tree"), *deep = in_scratch(state, "tree/a/b/c"),
         *file = in_scratch(state, "tree/a/b/.hidden"), *kept = in_scratch(state, "kept"),
         *link = in_scratch(state, "tree/link"), *safe = in_scratch(state, "kept/safe");
    assert_int_equal(rh_fs_make_dirs(deep), RH_OK);
    assert_int_equal(rh_fs_make_dirs(kept), RH_OK);
    put(file, "x");
    put(safe, "safe");
    assert_return_code(symlink("../kept", link), 0);
    assert_int_equal(rh_fs_remove_tree(tree), RH_OK);
    assert_int_equal(access(tree, F_OK), -1);
    assert_contents(safe, "safe"); /* behind the link, not in the tree */
    assert_int_equal(rh_fs_remove_tree(tree), RH_OK);
    assert_int_equal(rh_fs_remove_tree(safe), RH_OK);
    assert_int_equal(count_entries(kept), 0);
    free(tree);
    free(deep);
    free(file);
    free(kept);
    free(link);
    free(safe);
}

static void test_remove_tree_says_why_not(void **state)
{
    char *file = in_scratch(state, "file"), *below = in_scratch(state, "file/below");
    put(file, "");
    assert_int_equal(rh_fs_remove_tree(below), RH_ERR_IO);
    assert_non_null(strstr(rh_error_text(), "cannot remove"));
    assert_non_null(strstr(rh_error_text(), "Not a directory"));
    free(file);
    free(below);
}

static void test_make_dirs(void **state)
{
    char *deep = in_scratch(state, "x//y/z/"), *file = in_scratch(state, "file"),
         *below = in_scratch(state, "file/below");
    assert_int_equal(rh_fs_make_dirs(deep), RH_OK);
    assert_int_equal(rh_fs_make_dirs(deep), RH_OK);
    assert_return_code(access(deep, W_OK), 0);
    assert_int_equal(rh_fs_make_dirs("/"), RH_OK);
    assert_int_equal(rh_fs_make_dirs(""), RH_ERR_NOT_FOUND);
    put(file, "");
    assert_int_equal(rh_fs_make_dirs(file), RH_ERR_IO);
    assert_non_null(strstr(rh_error_text(), "Not a directory"));
    assert_int_equal(rh_fs_make_dirs(below), RH_ERR_IO);

    char *before = getcwd(NULL, 0);
    assert_return_code(chdir(*state), 0);
    assert_int_equal(rh_fs_make_dirs("relative/path"), RH_OK);
    assert_return_code(access("relative/path", F_OK), 0);
    assert_return_code(chdir(before), 0);
    free(before);
    free(deep);
    free(file);
    free(below);
}

static void *make_same_dirs(void *path)
{
    return rh_fs_make_dirs(path) == RH_OK ? path : NULL;
}

/* As under make -j: many build the same path, each must succeed. */
static void test_make_dirs_together(void **state)
{
    for (int round = 0; round < 20; round++) {
        char *path = rh_format("%s/%d/a/b/c/d", (char *)*state, round);
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, make_same_dirs, path), 0);
        for (int i = 0; i < 4; i++) {
            void *made;
            pthread_join(threads[i], &made);
            assert_ptr_equal(made, path);
        }
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(test_read_appends_all_sizes),
        cmocka_unit_test(test_read_of_sizeless_files),
        SCRATCH_TEST(test_read_failures),
        SCRATCH_TEST(test_map),
        SCRATCH_TEST(test_commit_replaces_whole),
        SCRATCH_TEST(test_abort_leaves_no_trace),
        SCRATCH_TEST(test_permissions_follow_the_umask),
        SCRATCH_TEST(test_two_files_at_once),
        SCRATCH_TEST(test_another_writer_fills_the_temporary),
        SCRATCH_TEST(test_links_stay_links),
        SCRATCH_TEST(test_begin_failures),
        SCRATCH_TEST(test_read_only_folder),
        SCRATCH_TEST(test_full_disk_keeps_the_old_file),
        cmocka_unit_test(test_devices_are_written_in_place),
        SCRATCH_TEST(test_standard_output_keeps_its_place),
        SCRATCH_TEST(test_temp_dirs_are_private_and_distinct),
        SCRATCH_TEST(test_remove_tree),
        SCRATCH_TEST(test_remove_tree_says_why_not),
        SCRATCH_TEST(test_make_dirs),
        SCRATCH_TEST(test_make_dirs_together),
    };
    return cmocka_run_group_tests_name("fs", tests, NULL, NULL);
}
