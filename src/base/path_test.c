/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of paths. */
#define _GNU_SOURCE 1
#include "base/mem.h"
#include "base/path.h"
#include "base/testing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void assert_taken(char *actual, const char *expected)
{
    assert_string_equal(actual, expected);
    free(actual);
}

static void test_join(void **state)
{
    (void)state;
    assert_taken(rh_path_join("a", "b"), "a/b");
    assert_taken(rh_path_join("a/", "b"), "a/b");
    assert_taken(rh_path_join("/", "b"), "/b");
    assert_taken(rh_path_join("a", "/b"), "/b");
    assert_taken(rh_path_join("", "b"), "b");
    assert_taken(rh_path_join("a", ""), "a");
    assert_taken(rh_path_join("", ""), "");
}

static void test_tidy(void **state)
{
    (void)state;
    assert_taken(rh_path_tidy("/usr/lib/gcc/12/../../include/c++"), "/usr/lib/include/c++");
    assert_taken(rh_path_tidy("/a//b/./c"), "/a/b/c");
    assert_taken(rh_path_tidy("../a/../../b"), "../../b");
    assert_taken(rh_path_tidy("./a.c"), "./a.c");
    assert_taken(rh_path_tidy("a/../b"), "a/../b");
    assert_taken(rh_path_tidy("/../a"), "/a");
    assert_taken(rh_path_tidy(""), "");
}

static void test_system_files(void **state)
{
    (void)state;
    assert_true(rh_path_is_system("/usr/include/c++/12/bits/stl_tree.h"));
    assert_true(
        rh_path_is_system("/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/map"));
    assert_true(rh_path_is_system("/opt/llvm/include/c++/v1/map"));
    assert_true(rh_path_is_system("/usr/include/x86_64-linux-gnu/bits/stdio.h"));
    assert_false(rh_path_is_system("/usr/src/app/main.cc"));
    assert_false(rh_path_is_system("/home/me/include/app.h"));
    assert_false(rh_path_is_system("include/app.h"));
}

static void test_basename_and_dirname(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"a/b", "b", "a"},   {"b", "b", "."},    {"/b", "b", "/"},     {"/", "/", "/"},
        {"///", "/", "/"},   {"a/b/", "b", "a"}, {"a//b//", "b", "a"}, {"/a/b/c", "c", "/a/b"},
        {"", ".", "."},      {"..", "..", "."},  {"a/..", "..", "a"},  {"//b", "b", "/"},
        {"a.c", "a.c", "."}, {"b/", "b", "."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_taken(rh_path_basename(cases[i][0]), cases[i][1]);
        assert_taken(rh_path_dirname(cases[i][0]), cases[i][2]);
    }
}

static void test_absolute(void **state)
{
    char *path, *before = getcwd(NULL, 0), *here;
    assert_int_equal(rh_path_absolute("/x/../y", &path), RH_OK);
    assert_taken(path, "/x/../y");
    assert_return_code(chdir(*state), 0);
    here = getcwd(NULL, 0);
    assert_int_equal(rh_path_absolute("none/here", &path), RH_OK);
    char *expected = rh_path_join(here, "none/here");
    assert_taken(path, expected);
    free(expected);
    free(here);

    /* A folder that is gone has no path. */
    assert_return_code(mkdir("gone", 0777), 0);
    assert_return_code(chdir("gone"), 0);
    assert_return_code(rmdir("../gone"), 0);
    assert_int_equal(rh_path_absolute("x", &path), RH_ERR_IO);
    assert_return_code(chdir(before), 0);
    free(before);
}

static void make_file(const char *folder, const char *name, mode_t mode)
{
    char *path = rh_path_join(folder, name);
    assert_int_equal(rh_fs_write(path, "#!/bin/sh\n", 10, mode), RH_OK);
    free(path);
}

static void test_which(void **state)
{
    const char *folder = *state;
    make_file(folder, "runs", 0755);
    make_file(folder, "data", 0644);
    char *sub = rh_path_join(folder, "sub"), *path, *expected;
    assert_return_code(mkdir(sub, 0777), 0);
    make_file(sub, "data", 0755);
    make_file(sub, "runs", 0755);
    char *saved = getenv("PATH") ? rh_strdup(getenv("PATH")) : NULL;
    char *search = rh_format("/nonexistent:%s:%s", folder, sub);
    setenv("PATH", search, 1);

    assert_int_equal(rh_path_which("runs", &path), RH_OK);
    expected = rh_path_join(folder, "runs");
    assert_taken(path, expected);
    free(expected);
    assert_int_equal(rh_path_which("data", &path), RH_OK); /* the one that can be run */
    expected = rh_path_join(sub, "data");
    assert_taken(path, expected);
    assert_int_equal(rh_path_which(expected, &path), RH_OK);
    assert_taken(path, expected);
    free(expected);

    assert_int_equal(rh_path_which("sub", &path), RH_ERR_NOT_FOUND); /* a folder */
    assert_non_null(strstr(rh_error_text(), "'sub'"));
    assert_int_equal(rh_path_which("", &path), RH_ERR_NOT_FOUND);
    assert_int_equal(rh_path_which("./no-such-program", &path), RH_ERR_NOT_FOUND);

    char *before = getcwd(NULL, 0);
    assert_return_code(chdir(folder), 0);
    setenv("PATH", "/nonexistent:", 1);
    assert_int_equal(rh_path_which("runs", &path), RH_OK);
    assert_taken(path, "./runs");
    assert_return_code(chdir(before), 0);
    unsetenv("PATH");
    assert_int_equal(rh_path_which("sh", &path), RH_OK);
    free(path);

    if (saved)
        setenv("PATH", saved, 1);
    free(before);
    free(saved);
    free(search);
    free(sub);
}

static void test_self_dir(void **state)
{
    (void)state;
    char *folder, *self = realpath("/proc/self/exe", NULL);
    assert_int_equal(rh_path_self_dir(&folder), RH_OK);
    char *expected = rh_path_dirname(self);
    assert_taken(folder, expected);
    free(expected);
    free(self);
}

static void test_user_data(void **state)
{
    (void)state;
    char *path;
    setenv("HOME", "/home/bee", 1);
    setenv("XDG_DATA_HOME", "/data", 1);
    assert_int_equal(rh_path_user_data(&path), RH_OK);
    assert_taken(path, "/data/racehive");
    setenv("XDG_DATA_HOME", "relative", 1); /* to be ignored, says the standard */
    assert_int_equal(rh_path_user_data(&path), RH_OK);
    assert_taken(path, "/home/bee/.local/share/racehive");
    setenv("XDG_DATA_HOME", "", 1);
    assert_int_equal(rh_path_user_data(&path), RH_OK);
    assert_taken(path, "/home/bee/.local/share/racehive");
    unsetenv("XDG_DATA_HOME");
    assert_int_equal(rh_path_user_data(&path), RH_OK);
    assert_taken(path, "/home/bee/.local/share/racehive");
}

/* Whether the account has a home depends on the machine: either a path or a clear message. */
static void test_user_data_without_home(void **state)
{
    (void)state;
    unsetenv("XDG_DATA_HOME");
    static const char *const homes[] = {NULL, "", "relative"};
    for (size_t i = 0; i < 3; i++) {
        char *path = NULL;
        if (homes[i])
            setenv("HOME", homes[i], 1);
        else
            unsetenv("HOME");
        enum rh_status status = rh_path_user_data(&path);
        if (status == RH_OK) {
            assert_int_equal(path[0], '/');
            assert_non_null(strstr(path, "/.local/share/racehive"));
        } else {
            assert_int_equal(status, RH_ERR_NOT_FOUND);
            assert_non_null(strstr(rh_error_text(), "XDG_DATA_HOME"));
        }
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_tidy),
        cmocka_unit_test(test_system_files),
        cmocka_unit_test(test_basename_and_dirname),
        cmocka_unit_test_setup_teardown(test_absolute, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(test_which, make_scratch, remove_scratch),
        cmocka_unit_test(test_self_dir),
        cmocka_unit_test(test_user_data),
        cmocka_unit_test(test_user_data_without_home),
    };
    return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
