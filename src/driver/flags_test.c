/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the scan of clang's command line. */
#include "base/testing.h"

#include "driver/flags.h"

#include <string.h>

#define SCAN(flags, ...)                                                                           \
    do {                                                                                           \
        const char *const words_[] = {__VA_ARGS__};                                                \
        rh_flags_scan((flags), sizeof words_ / sizeof words_[0], words_);                          \
    } while (0)

static void ends_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        enum rh_flags_end end;
    } rows[] = {
        {"-O2", RH_FLAGS_END_LINK},        {"-c", RH_FLAGS_END_OBJECT},
        {"-S", RH_FLAGS_END_TEXT},         {"-E", RH_FLAGS_END_TEXT},
        {"-M", RH_FLAGS_END_TEXT},         {"-MM", RH_FLAGS_END_TEXT},
        {"-MD", RH_FLAGS_END_LINK},        {"-MMD", RH_FLAGS_END_LINK},
        {"-emit-llvm", RH_FLAGS_END_TEXT}, {"-fsyntax-only", RH_FLAGS_END_TEXT},
        {"--version", RH_FLAGS_END_QUERY}, {"-print-search-dirs", RH_FLAGS_END_QUERY},
        {"-###", RH_FLAGS_END_QUERY},      {"-dumpmachine", RH_FLAGS_END_QUERY},
        {"-cc1", RH_FLAGS_END_QUERY},      {"-cxx-isystem", RH_FLAGS_END_LINK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rh_flags flags;
        SCAN(&flags, rows[i].word, "a.c");
        assert_int_equal(flags.end, rows[i].end);
    }
}

static void nearest_end_wins(void **state)
{
    (void)state;
    struct rh_flags flags;
    SCAN(&flags, "-S", "-c", "a.c");
    assert_int_equal(flags.end, RH_FLAGS_END_TEXT);
    SCAN(&flags, "-c", "-E", "a.c");
    assert_int_equal(flags.end, RH_FLAGS_END_TEXT);
}

static void operands_are_not_options(void **state)
{
    (void)state;
    struct rh_flags flags;
    SCAN(&flags, "-o", "-c", "-include", "-E", "-Xlinker", "-S", "-MF", "--version", "-x", "c",
         "-Xclang", "-emit-llvm");
    assert_int_equal(flags.end, RH_FLAGS_END_LINK);
    assert_false(flags.dangling);
    SCAN(&flags, "-ofile", "-c", "a.c");
    assert_int_equal(flags.end, RH_FLAGS_END_OBJECT);
}

static void missing_operand_is_seen(void **state)
{
    (void)state;
    static const char *const words[] = {"-o", "-x", "-include", "-Xlinker", "-target", "-l", "-D"};
    struct rh_flags flags;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        SCAN(&flags, "a.c", words[i]);
        assert_true(flags.dangling);
        SCAN(&flags, words[i], "a.c");
        assert_false(flags.dangling);
    }
}

static void inputs_are_seen(void **state)
{
    (void)state;
    static const char *const inputs[] = {"a.c", "-", "-lfoo", "-Wl,a.o"};
    struct rh_flags flags;
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        SCAN(&flags, "-O2", inputs[i]);
        assert_true(flags.has_input);
    }
    SCAN(&flags, "-O2", "-o", "a.c", "-v");
    assert_false(flags.has_input);
    assert_true(flags.verbose);
}

static void users_linker_is_seen(void **state)
{
    (void)state;
    struct rh_flags flags;
    SCAN(&flags, "a.c");
    assert_null(flags.fuse_ld);
    assert_null(flags.ld_path);
    SCAN(&flags, "-fuse-ld=bfd", "a.c", "-fuse-ld=gold", "--ld-path=/x/ld");
    assert_string_equal(flags.fuse_ld, "gold");
    assert_string_equal(flags.ld_path, "/x/ld");
}

static void two_dashes_end_the_options(void **state)
{
    (void)state;
    struct rh_flags flags;
    SCAN(&flags, "-c", "--", "-E");
    assert_int_equal(flags.options_end, 1);
    assert_int_equal(flags.end, RH_FLAGS_END_OBJECT);
    assert_true(flags.has_input);
    SCAN(&flags, "-c", "a.c");
    assert_int_equal(flags.options_end, 2);
}

static void last_word_on_bitcode_counts(void **state)
{
    (void)state;
    struct rh_flags flags;
    SCAN(&flags, "a.c");
    assert_true(rh_flags_want_bitcode(&flags));
    SCAN(&flags, "-fno-lto", "a.c");
    assert_false(rh_flags_want_bitcode(&flags));
    assert_null(rh_flags_foreign(&flags));
    SCAN(&flags, "-fno-lto", "-flto=thin", "a.c");
    assert_true(rh_flags_want_bitcode(&flags));
    SCAN(&flags, "-fno-integrated-as", "-flto", "a.c");
    assert_false(rh_flags_want_bitcode(&flags));
}

static void foreign_options_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *words[2];
        const char *foreign;
    } rows[] = {
        {{"-fsanitize=address", "a.c"}, "-fsanitize=address"},
        {{"-fsanitize=address", "-fno-sanitize=all"}, NULL},
        {{"-fsanitize=thread", "-m64"}, "-fsanitize=thread"},
        {{"-fsanitize-trap=all", "a.c"}, NULL},
        {{"-m32", "a.c"}, "-m32"},
        {{"-m32", "-m64"}, NULL},
        {{"--target=aarch64-linux-gnu", "a.c"}, "--target=aarch64-linux-gnu"},
        {{"--target=x86_64-pc-linux-gnu", "a.c"}, NULL},
        {{"--target=x86_64-linux-gnux32", "a.c"}, "--target=x86_64-linux-gnux32"},
        {{"--target=x86_64-unknown-freebsd", "a.c"}, "--target=x86_64-unknown-freebsd"},
        {{"-target", "i686-linux-gnu"}, "-target"},
        {{"-target", "x86_64-linux-gnu"}, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rh_flags flags;
        rh_flags_scan(&flags, 2, rows[i].words);
        const char *foreign = rh_flags_foreign(&flags);
        assert_int_equal(foreign == NULL, rows[i].foreign == NULL);
        if (foreign)
            assert_string_equal(foreign, rows[i].foreign);
        assert_int_equal(rh_flags_want_bitcode(&flags), foreign == NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_are_found),
        cmocka_unit_test(nearest_end_wins),
        cmocka_unit_test(operands_are_not_options),
        cmocka_unit_test(missing_operand_is_seen),
        cmocka_unit_test(inputs_are_seen),
        cmocka_unit_test(users_linker_is_seen),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(last_word_on_bitcode_counts),
        cmocka_unit_test(foreign_options_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
