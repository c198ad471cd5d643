/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the sidecar of a program: beside it, behind a link, by build id, or not at all. */
#include "store/sidecar.h"

#include "base/elf_testing.h"
#include "base/mem.h"
#include "base/testing.h"

#include <string.h>

/* Build ids as bytes and as text. */
#define ID_A      "\x11\x22\xcd"
#define ID_A_TEXT "1122cd"
#define ID_B      "\x11\x33\xcd"
#define ID_B_TEXT "1133cd"

/* Everything happens in the scratch folder, the user's data folder included. */
static int enter_scratch(void **state)
{
    if (make_scratch(state) != 0 || chdir(*state) != 0)
        return -1;
    char *data = rh_path_join(*state, "data");
    setenv("XDG_DATA_HOME", data, 1);
    free(data);
    return 0;
}

static int leave_scratch(void **state)
{
    return chdir("/") == 0 ? remove_scratch(state) : -1;
}

static void make_program(const char *path, const char *build_id, bool instrumented)
{
    struct rh_strbuf bytes = RH_STRBUF_INIT;
    make_elf(&bytes, &(struct elf_fixture){build_id, instrumented});
    assert_status(RH_OK, rh_fs_write(path, bytes.data, bytes.len, 0777));
    rh_strbuf_release(&bytes);
}

static void make_sidecar(const char *path, const char *build_id)
{
    struct rh_sidecar_writer *writer;
    assert_status(RH_OK, rh_sidecar_create(path, &writer));
    rh_sidecar_set_meta(writer, RH_SIDECAR_META_BUILD_ID, build_id);
    assert_status(RH_OK, rh_sidecar_commit(writer));
}

static void assert_found(const char *program, const char *symbols, const char *expected)
{
    char *path = NULL;
    assert_status(RH_OK, rh_sidecar_find(program, symbols, &path));
    assert_string_equal(path, expected);
    free(path);
}

static void assert_not_found(const char *program, const char *symbols, enum rh_status status,
                             const char *message)
{
    char *path = NULL;
    assert_status(status, rh_sidecar_find(program, symbols, &path));
    if (!strstr(rh_error_text(), message))
        fail_msg("expected \"%s\" in: %s", message, rh_error_text());
}

static void publish(const char *build_id)
{
    make_sidecar("draft", build_id);
    assert_status(RH_OK, rh_sidecar_publish("draft", build_id));
    assert_status(RH_OK, rh_fs_remove_tree("draft"));
}

static void beside_the_program_comes_first(void **state)
{
    (void)state;
    make_program("p", ID_A, true);
    make_sidecar("p.racehive", ID_A_TEXT);
    publish(ID_A_TEXT);
    assert_found("p", NULL, "p.racehive");
    assert_found("./p", NULL, "./p.racehive");
}

static void a_link_leads_to_what_it_names(void **state)
{
    assert_int_equal(mkdir("lib", 0777), 0);
    make_program("lib/libp.so.1", ID_A, true);
    make_sidecar("lib/libp.so.1.racehive", ID_A_TEXT);
    assert_int_equal(symlink("lib/libp.so.1", "libp.so"), 0);
    char *real = realpath(*state, NULL);
    char *expected = rh_path_join(real, "lib/libp.so.1.racehive");
    assert_found("libp.so", NULL, expected);
    free(expected);
    free(real);
}

static void a_moved_program_is_known_by_its_build_id(void **state)
{
    char *copy = rh_path_join(*state, "data/racehive/by-build-id/11/22cd.racehive");
    publish(ID_A_TEXT);
    make_program("renamed", ID_A, true);
    assert_found("renamed", NULL, copy);
    /* What stands beside it is of another build, or broken. */
    make_sidecar("renamed.racehive", ID_B_TEXT);
    assert_found("renamed", NULL, copy);
    assert_status(RH_OK, rh_fs_write("renamed.racehive", "x", 1, 0666));
    assert_found("renamed", NULL, copy);
    free(copy);
}

static void publishing_again_replaces_the_copy(void **state)
{
    (void)state;
    publish(ID_A_TEXT);
    publish(ID_A_TEXT);
    assert_int_equal(count_entries("data/racehive/by-build-id/11"), 1);
}

static void a_build_is_found_by_its_id_alone(void **state)
{
    (void)state;
    char *path = NULL;
    assert_status(RH_ERR_NOT_FOUND, rh_sidecar_find_build(ID_A_TEXT, &path));
    publish(ID_A_TEXT);
    assert_status(RH_OK, rh_sidecar_find_build(ID_A_TEXT, &path));
    assert_non_null(strstr(path, "/by-build-id/11/"));
    free(path);
    assert_status(RH_ERR_NOT_FOUND, rh_sidecar_find_build(ID_B_TEXT, &path));
    assert_status(RH_ERR_INPUT, rh_sidecar_find_build("../../etc", &path));
}

static void publishing_can_fail(void **state)
{
    (void)state;
    assert_status(RH_ERR_NOT_FOUND, rh_sidecar_publish("missing", ID_A_TEXT));
    make_sidecar("draft", ID_A_TEXT);
    assert_status(RH_ERR_INPUT, rh_sidecar_publish("draft", "../../etc"));
    assert_status(RH_ERR_INPUT, rh_sidecar_publish("draft", ""));
    assert_status(RH_OK, rh_fs_remove_tree("data"));
    assert_status(RH_OK, rh_fs_write("data", "a file is in the way", 20, 0666));
    assert_status(RH_ERR_IO, rh_sidecar_publish("draft", ID_A_TEXT));
}

static void symbols_override(void **state)
{
    (void)state;
    make_program("p", ID_A, true);
    make_sidecar("p.racehive", ID_A_TEXT);
    make_sidecar("other", ID_A_TEXT);
    make_sidecar("wrong", ID_B_TEXT);
    assert_found("p", "other", "other");
    assert_not_found("p", "wrong", RH_ERR_INPUT, "another build");
    assert_not_found("p", "missing", RH_ERR_NOT_FOUND, "missing");
    assert_not_found("missing", "other", RH_ERR_NOT_FOUND, "missing");
}

static void a_program_without_build_id_is_taken_at_its_name(void **state)
{
    (void)state;
    make_program("p", NULL, true);
    make_sidecar("p.racehive", ID_A_TEXT);
    assert_found("p", NULL, "p.racehive");
}

static void a_sidecar_is_its_own_answer(void **state)
{
    (void)state;
    make_sidecar("p.racehive", ID_A_TEXT);
    assert_found("p.racehive", NULL, "p.racehive");
}

static void each_trouble_has_its_message(void **state)
{
    (void)state;
    assert_not_found("missing", NULL, RH_ERR_NOT_FOUND, "there is no file 'missing'");
    assert_not_found(".", NULL, RH_ERR_INPUT, "is a directory");
    assert_not_found("/dev/null", NULL, RH_ERR_INPUT, "not a regular file");
    assert_status(RH_OK, rh_fs_write("text", "hello", 5, 0666));
    assert_not_found("text", NULL, RH_ERR_INPUT, "not an ELF file");
    make_program("plain", ID_A, false);
    assert_not_found("plain", NULL, RH_ERR_INPUT, "not built with racehive-cc");
    make_sidecar("plain.racehive", ID_B_TEXT); /* left over from an earlier build */
    assert_not_found("plain", NULL, RH_ERR_INPUT, "not built with racehive-cc");
    make_program("p", ID_A, true);
    assert_not_found("p", NULL, RH_ERR_NOT_FOUND, "neither beside it nor");
    make_sidecar("p.racehive", ID_B_TEXT);
    assert_not_found("p", NULL, RH_ERR_INPUT, "belongs to another build");
    assert_status(RH_OK, rh_fs_write("p.racehive", "x", 1, 0666));
    assert_not_found("p", NULL, RH_ERR_INPUT, "cannot read p.racehive");
}

#define ENTERED_TEST(name) cmocka_unit_test_setup_teardown(name, enter_scratch, leave_scratch)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENTERED_TEST(beside_the_program_comes_first),
        ENTERED_TEST(a_link_leads_to_what_it_names),
        ENTERED_TEST(a_moved_program_is_known_by_its_build_id),
        ENTERED_TEST(publishing_again_replaces_the_copy),
        ENTERED_TEST(a_build_is_found_by_its_id_alone),
        ENTERED_TEST(publishing_can_fail),
        ENTERED_TEST(symbols_override),
        ENTERED_TEST(a_program_without_build_id_is_taken_at_its_name),
        ENTERED_TEST(a_sidecar_is_its_own_answer),
        ENTERED_TEST(each_trouble_has_its_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
