/* SPDX-License-Identifier: Apache-2.0 */
/* Reading ELF files: this very program, small made-up ones, and broken ones. */
#include "base/elf.h"

#include "base/elf_testing.h"
#include "base/hash.h"
#include "base/testing.h"

#include <string.h>

/* The linker is told to give this program the build id below. */
static const char own_build_id[] = "00ff0123456789abcdef";
__attribute__((section(".note.racehive"), used)) static const int places = 1;

static void this_program_is_understood(void **state)
{
    (void)state;
    struct rh_elf elf;
    assert_status(RH_OK, rh_elf_open("/proc/self/exe", &elf));
    assert_true(rh_elf_has_section(&elf, ".note.racehive"));
    assert_true(rh_elf_has_section(&elf, ".text"));
    assert_false(rh_elf_has_section(&elf, ".note.racehiv"));
    assert_false(rh_elf_has_section(&elf, "note.racehive"));
    char *build_id = rh_elf_build_id(&elf);
    assert_non_null(build_id);
    assert_string_equal(build_id, own_build_id);
    free(build_id);
    rh_elf_close(&elf);
    assert_int_equal(places, 1);
}

static void write_elf(const char *path, const struct elf_fixture *fixture)
{
    struct rh_strbuf bytes = RH_STRBUF_INIT;
    make_elf(&bytes, fixture);
    assert_status(RH_OK, rh_fs_write(path, bytes.data, bytes.len, 0777));
    rh_strbuf_release(&bytes);
}

static void made_up_files_are_understood(void **state)
{
    char *path = rh_path_join(*state, "p");
    struct rh_elf elf;
    write_elf(path, &(struct elf_fixture){"\x01\xaa\xff", true});
    assert_status(RH_OK, rh_elf_open(path, &elf));
    char *build_id = rh_elf_build_id(&elf);
    assert_string_equal(build_id, "01aaff");
    assert_true(rh_elf_has_section(&elf, ".note.racehive"));
    free(build_id);
    rh_elf_close(&elf);
    write_elf(path, &(struct elf_fixture){NULL, false});
    assert_status(RH_OK, rh_elf_open(path, &elf));
    assert_null(rh_elf_build_id(&elf));
    assert_false(rh_elf_has_section(&elf, ".note.racehive"));
    rh_elf_close(&elf);
    free(path);
}

static void assert_no_elf(const char *path, const char *bytes, size_t len, const char *message)
{
    struct rh_elf elf;
    assert_status(RH_OK, rh_fs_write(path, bytes, len, 0666));
    assert_status(RH_ERR_INPUT, rh_elf_open(path, &elf));
    if (!strstr(rh_error_text(), message))
        fail_msg("expected \"%s\" in: %s", message, rh_error_text());
}

static bool is_malloc(const char *name, void *arg)
{
    (void)arg;
    return strcmp(name, "malloc") == 0;
}

static bool is_libc(const char *name, void *arg)
{
    (*(unsigned *)arg)++;
    return strncmp(name, "libc.so", 7) == 0;
}

static bool is_nothing(const char *name, void *arg)
{
    (void)name, (void)arg;
    return false;
}

static void what_this_program_needs_is_found(void **state)
{
    (void)state;
    struct rh_elf elf;
    unsigned libraries = 0;
    assert_status(RH_OK, rh_elf_open("/proc/self/exe", &elf));
    assert_true(rh_elf_has_symbols(&elf));
    assert_true(rh_elf_find(&elf, RH_ELF_UNDEFINED, is_malloc, NULL));
    assert_true(rh_elf_find(&elf, RH_ELF_NEEDED, is_libc, &libraries));
    assert_in_range(libraries, 1, 10);
    assert_false(rh_elf_find(&elf, RH_ELF_UNDEFINED, is_nothing, NULL));
    rh_elf_close(&elf);
}

/* With its own bytes damaged, nothing outside the copy is read. */
static void damaged_symbols_never_crash_the_reader(void **state)
{
    (void)state;
    struct rh_elf elf;
    assert_status(RH_OK, rh_elf_open("/proc/self/exe", &elf));
    for (uint64_t round = 0; round < 300; round++) {
        unsigned char *copy = malloc(elf.file.len);
        memcpy(copy, elf.file.data, elf.file.len);
        struct rh_hash hash;
        rh_hash_init(&hash);
        for (int i = 0; i < 64; i++) {
            rh_hash_add_u64(&hash, round);
            uint64_t drawn = rh_hash_finish(&hash);
            /* The section headers are at the end, the dynamic tables at the beginning. */
            size_t from = drawn & 1 ? elf.file.len - elf.file.len / 16 : 0;
            copy[from + (drawn >> 9) % (elf.file.len / 16)] = (unsigned char)(drawn >> 1);
        }
        struct rh_elf damaged = {.file = {.data = copy, .len = elf.file.len}};
        rh_elf_find(&damaged, RH_ELF_UNDEFINED, is_nothing, NULL);
        rh_elf_find(&damaged, RH_ELF_NEEDED, is_nothing, NULL);
        free(copy);
    }
    rh_elf_close(&elf);
}

static void other_files_are_refused(void **state)
{
    char *path = rh_path_join(*state, "p");
    struct rh_strbuf bytes = RH_STRBUF_INIT;
    make_elf(&bytes, &(struct elf_fixture){"\x01", true});
    assert_no_elf(path, "", 0, "not an ELF file");
    assert_no_elf(path,
                  "\x7f"
                  "EL",
                  3, "not an ELF file");
    assert_no_elf(path, "#!/bin/sh\n", 10, "script");
    assert_no_elf(path, bytes.data, 40, "truncated");
    for (size_t len = sizeof(Elf64_Ehdr); len < bytes.len; len++)
        assert_no_elf(path, bytes.data, len, "truncated or damaged");
    bytes.data[EI_CLASS] = ELFCLASS32;
    assert_no_elf(path, bytes.data, bytes.len, "64-bit");
    rh_strbuf_release(&bytes);
    free(path);
}

/* Works on memory, which a sanitizer watches to the byte. */
static void flipped_bytes_never_crash_the_reader(void **state)
{
    (void)state;
    enum { ROUNDS = 20000 };
    unsigned found = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct rh_strbuf bytes = RH_STRBUF_INIT;
        make_elf(&bytes, &(struct elf_fixture){"\x01\xaa", true});
        struct rh_hash hash;
        rh_hash_init(&hash);
        for (uint64_t i = 0; i <= round % 4; i++) {
            rh_hash_add_u64(&hash, round);
            uint64_t drawn = rh_hash_finish(&hash);
            bytes.data[(drawn >> 8) % bytes.len] = (char)drawn;
        }
        void *exact = malloc(bytes.len);
        memcpy(exact, bytes.data, bytes.len);
        struct rh_elf elf = {.file = {.data = exact, .len = bytes.len}};
        char *build_id = rh_elf_build_id(&elf);
        found += build_id && rh_elf_has_section(&elf, ".note.racehive");
        free(build_id);
        free(exact);
        rh_strbuf_release(&bytes);
    }
    assert_in_range(found, 1, ROUNDS - 1);
}

static void build_ids_are_hexadecimal(void **state)
{
    (void)state;
    assert_int_equal(rh_elf_check_build_id("00ff"), RH_OK);
    assert_int_equal(rh_elf_check_build_id(own_build_id), RH_OK);
    static const char *const bad[] = {"", "00f", "00FF", "../x", "00ff/", "00fg", " 00ff"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(rh_elf_check_build_id(bad[i]), RH_ERR_INPUT);
        assert_non_null(strstr(rh_error_text(), "is not a build id"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(build_ids_are_hexadecimal),
        cmocka_unit_test(this_program_is_understood),
        SCRATCH_TEST(made_up_files_are_understood),
        cmocka_unit_test(what_this_program_needs_is_found),
        cmocka_unit_test(damaged_symbols_never_crash_the_reader),
        SCRATCH_TEST(other_files_are_refused),
        cmocka_unit_test(flipped_bytes_never_crash_the_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
