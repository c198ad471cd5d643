/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of finding and inspecting the inputs of a link; what a fat object is, object_test.c knows.
 */
#include "base/testing.h"

#include "base/path.h"
#include "driver/archive.h"
#include "driver/inputs.h"

#include <elf.h>
#include <string.h>

/* The smallest files that count as bitcode and as a native object. */
static const char bitcode[] = "BC\xC0\xDE";

static void add_native(struct rh_strbuf *out)
{
    Elf64_Ehdr header = {.e_type = ET_REL};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    rh_strbuf_addn(out, &header, sizeof header);
}

static char *write_file(const char *folder, const char *name, const void *bytes, size_t len)
{
    char *path = rh_path_join(folder, name), *parent = rh_path_dirname(path);
    assert_int_equal(rh_fs_make_dirs(parent), RH_OK);
    assert_int_equal(rh_fs_write(path, bytes, len, 0666), RH_OK);
    free(parent);
    return path;
}

/* An archive with the given numbers of members. */
static char *write_archive(const char *folder, const char *name, int with, int without)
{
    struct rh_archive_writer writer = {0};
    struct rh_strbuf native = RH_STRBUF_INIT;
    add_native(&native);
    for (int i = 0; i < with; i++)
        rh_archive_add(&writer, "with.o", bitcode, 4);
    for (int i = 0; i < without; i++)
        rh_archive_add(&writer, "without.o", native.data, native.len);
    char *path = write_file(folder, name, "", 0);
    assert_int_equal(rh_archive_write(&writer, path), RH_OK);
    rh_strbuf_release(&native);
    return path;
}

static void contents_are_told_apart(void **state)
{
    struct rh_strbuf native = RH_STRBUF_INIT;
    add_native(&native);
    char *paths[] = {
        write_file(*state, "bitcode.o", bitcode, 4),
        write_file(*state, "native.o", native.data, native.len),
        write_archive(*state, "pure.a", 2, 0),
        write_archive(*state, "mixed.a", 1, 2),
        write_archive(*state, "native.a", 0, 2),
        write_archive(*state, "empty.a", 0, 0),
        rh_path_join(*state, "nosuch.o"),
    };
    static const enum rh_ld_content expected[] = {
        RH_LD_BITCODE, RH_LD_NATIVE, RH_LD_BITCODE, RH_LD_MIXED_ARCHIVE,
        RH_LD_NATIVE,  RH_LD_NATIVE, RH_LD_NATIVE,
    };
    struct rh_ld ld;
    rh_ld_parse(&ld, 7, (const char *const *)(void *)paths);
    assert_int_equal(rh_inputs_inspect(&ld), 3);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(ld.args.data[i].content, expected[i]);
    assert_true(ld.has_plain_bitcode);
    rh_ld_release(&ld);
    for (size_t i = 0; i < 7; i++)
        free(paths[i]);
    rh_strbuf_release(&native);
}

static void mixed_archive_is_copied_without_bitcode(void **state)
{
    char *path = write_archive(*state, "libmixed.a", 1, 2), *temps = rh_path_join(*state, "temps");
    assert_int_equal(rh_fs_make_dirs(temps), RH_OK);
    struct rh_ld ld;
    rh_ld_parse(&ld, 1, (const char *const *)(void *)&path);
    assert_int_equal(rh_inputs_inspect(&ld), 1);
    assert_int_equal(rh_inputs_prepare(&ld, temps), RH_OK);
    const char *copy = ld.args.data[0].native_path;
    assert_non_null(copy);
    assert_string_equal(strrchr(copy, '/'), "/libmixed.a");
    assert_null(ld.args.data[0].merge_path);

    struct rh_ld again;
    rh_ld_parse(&again, 1, &copy);
    assert_int_equal(rh_inputs_inspect(&again), 0);
    assert_true(again.args.data[0].is_archive);
    rh_ld_release(&again);
    rh_ld_release(&ld);
    free(temps);
    free(path);
}

/* Finds -lVALUE with the folders one and two as search paths; gives the path's end. */
static const char *find(struct rh_ld *ld, const char *value, bool is_static, const char *root)
{
    const char *path = rh_inputs_find_library(ld, value, is_static);
    return path ? path + strlen(root) : NULL;
}

static void libraries_are_found_as_lld_finds_them(void **state)
{
    const char *root = *state;
    free(write_file(root, "one/liba.a", "", 0));
    free(write_file(root, "two/liba.so", "", 0));
    free(write_file(root, "two/liba.a", "", 0));
    free(write_file(root, "two/libb.so", "", 0));
    free(write_file(root, "two/libb.a", "", 0));
    free(write_file(root, "two/odd.name", "", 0));
    struct rh_ld ld;
    char *one = rh_format("-L%s/one", root), *sysroot = rh_format("--sysroot=%s", root);
    const char *const words[] = {one, "-L=/two", sysroot};
    rh_ld_parse(&ld, 3, words);
    assert_string_equal(find(&ld, "a", false, root), "/one/liba.a");
    assert_string_equal(find(&ld, "b", false, root), "/two/libb.so");
    assert_string_equal(find(&ld, "b", true, root), "/two/libb.a");
    assert_string_equal(find(&ld, ":odd.name", false, root), "/two/odd.name");
    assert_null(find(&ld, "nosuch", false, root));
    assert_null(find(&ld, ":nosuch", false, root));
    rh_ld_release(&ld);
    free(sysroot);
    free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(contents_are_told_apart, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(mixed_archive_is_copied_without_bitcode, make_scratch,
                                        remove_scratch),
        cmocka_unit_test_setup_teardown(libraries_are_found_as_lld_finds_them, make_scratch,
                                        remove_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
