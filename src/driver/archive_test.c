/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of archives: our own writing read back, GNU ar's formats, damaged files. */
#include "base/testing.h"

#include "base/path.h"
#include "driver/archive.h"

#include <string.h>

#define HEADER(name, size) name "0           0     0     644     " size "`\n"
#define LONG_NAME          "a_name_of_more_than_fifteen_bytes.o"

static void write_file(const char *path, const char *text)
{
    assert_int_equal(rh_fs_write(path, text, strlen(text), 0666), RH_OK);
}

/* Reads all members into one text "name=contents;"; returns the status that ended it. */
static enum rh_status list(const char *path, struct rh_strbuf *out)
{
    struct rh_archive archive;
    struct rh_archive_member member;
    bool found = true;
    enum rh_status status = rh_archive_open(&archive, path);
    if (status != RH_OK)
        return status;
    while (status == RH_OK && found) {
        status = rh_archive_next(&archive, &member, &found);
        if (status == RH_OK && found) {
            rh_strbuf_addf(out, "%s=", member.name);
            rh_strbuf_addn(out, member.data, member.len);
            rh_strbuf_addc(out, ';');
            rh_archive_release_member(&member);
        }
    }
    rh_archive_close(&archive);
    return status;
}

static void assert_members(const char *path, const char *expected)
{
    struct rh_strbuf out = RH_STRBUF_INIT;
    assert_int_equal(list(path, &out), RH_OK);
    assert_string_equal(rh_strbuf_text(&out), expected);
    rh_strbuf_release(&out);
}

static void assert_damaged(const char *path, const char *text)
{
    struct rh_strbuf out = RH_STRBUF_INIT;
    write_file(path, text);
    assert_int_equal(list(path, &out), RH_ERR_INPUT);
    rh_strbuf_release(&out);
}

static void written_archive_is_read_back(void **state)
{
    char *path = rh_path_join(*state, "lib.a");
    struct rh_archive_writer writer = {0};
    rh_archive_add(&writer, "short.o", "odd", 3);
    rh_archive_add(&writer, "folder/" LONG_NAME, "even", 4);
    rh_archive_add(&writer, "fifteen_bytes.o", "", 0);
    rh_archive_add(&writer, "sixteen_bytes_.o", "x", 1);
    rh_archive_add(&writer, "short.o", "twice", 5);
    assert_int_equal(rh_archive_write(&writer, path), RH_OK);
    assert_members(path, "short.o=odd;" LONG_NAME "=even;fifteen_bytes.o=;sixteen_bytes_.o=x;"
                         "short.o=twice;");
    free(path);
}

static void empty_archive_has_no_members(void **state)
{
    char *path = rh_path_join(*state, "lib.a");
    struct rh_archive_writer writer = {0};
    assert_int_equal(rh_archive_write(&writer, path), RH_OK);
    assert_members(path, "");
    free(path);
}

static void symbol_tables_are_passed_over(void **state)
{
    char *path = rh_path_join(*state, "lib.a");
    write_file(path, "!<arch>\n" HEADER("/               ", "4         ") "symb" HEADER(
                         "/SYM64/         ", "3         ") "sym\n" HEADER("//              ",
                                                                          "38        ") LONG_NAME
               "/\n\n" HEADER("/0              ", "2         ") "hi" HEADER("b.o/            ",
                                                                            "1         ") "x\n");
    assert_members(path, LONG_NAME "=hi;b.o=x;");
    free(path);
}

static void thin_members_are_files_beside_the_archive(void **state)
{
    char *path = rh_path_join(*state, "lib.a"), *folder = rh_path_join(*state, "sub");
    char *member = rh_path_join(folder, "m.o");
    assert_int_equal(rh_fs_make_dirs(folder), RH_OK);
    write_file(member, "contents");
    write_file(path, "!<thin>\n" HEADER("//              ", "10        ") "sub/m.o/\n\n" HEADER(
                         "/0              ", "8         "));
    assert_members(path, "sub/m.o=contents;");
    assert_int_equal(rh_fs_remove_tree(member), RH_OK);
    struct rh_strbuf out = RH_STRBUF_INIT;
    assert_int_equal(list(path, &out), RH_ERR_NOT_FOUND);
    rh_strbuf_release(&out);
    free(member);
    free(folder);
    free(path);
}

static void damaged_archives_are_refused(void **state)
{
    char *path = rh_path_join(*state, "lib.a");
    assert_damaged(path, "");
    assert_damaged(path, "!<arch>");
    assert_damaged(path, "something else");
    assert_damaged(path, "!<arch>\nshort");
    assert_damaged(path, "!<arch>\n" HEADER("a.o/            ", "5         ") "four");
    assert_damaged(path, "!<arch>\n" HEADER("a.o/            ", "x         ") "four");
    assert_damaged(path, "!<arch>\n" HEADER("a.o/            ", "          ") "four");
    assert_damaged(path, "!<arch>\n" HEADER("/7              ", "4         ") "four");
    free(path);
}

static void unwritable_archive_is_an_error(void **state)
{
    char *path = rh_path_join(*state, "nosuch/lib.a");
    struct rh_archive_writer writer = {0};
    rh_archive_add(&writer, "a.o", "x", 1);
    assert_int_equal(rh_archive_write(&writer, path), RH_ERR_IO);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(written_archive_is_read_back, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(empty_archive_has_no_members, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(symbol_tables_are_passed_over, make_scratch,
                                        remove_scratch),
        cmocka_unit_test_setup_teardown(thin_members_are_files_beside_the_archive, make_scratch,
                                        remove_scratch),
        cmocka_unit_test_setup_teardown(damaged_archives_are_refused, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(unwritable_archive_is_an_error, make_scratch,
                                        remove_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
