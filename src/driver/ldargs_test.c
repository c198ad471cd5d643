/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the model of a linker's command line. */
#include "base/testing.h"

#include "driver/ldargs.h"

#include <string.h>

#define PARSE(ld, ...)                                                                             \
    do {                                                                                           \
        const char *const words_[] = {__VA_ARGS__};                                                \
        rh_ld_parse((ld), sizeof words_ / sizeof words_[0], words_);                               \
    } while (0)

static void values_joined_and_separate(void **state)
{
    (void)state;
    static const struct {
        const char *words[2];
        enum rh_ld_role role;
        const char *value;
    } rows[] = {
        {{"-o", "out"}, RH_LD_OUTPUT, "out"},
        {{"--output", "out"}, RH_LD_OUTPUT, "out"},
        {{"-l", "foo"}, RH_LD_LIBRARY, "foo"},
        {{"-L", "dir"}, RH_LD_LIBRARY_PATH, "dir"},
        {{"-Map", "file"}, RH_LD_SIDE, "file"},
        {{"-plugin", "x.so"}, RH_LD_PLUGIN, "x.so"},
        {{"-dynamic-linker", "ld.so"}, RH_LD_DYNAMIC_LINKER, "ld.so"},
        {{"-rpath", "dir"}, RH_LD_OPTION, "dir"},
        {{"-z", "now"}, RH_LD_OPTION, "now"},
        {{"--version-script", "map"}, RH_LD_OPTION, "map"},
        {{"-oout", NULL}, RH_LD_OUTPUT, "out"},
        {{"-lfoo", NULL}, RH_LD_LIBRARY, "foo"},
        {{"--library=foo", NULL}, RH_LD_LIBRARY, "foo"},
        {{"-Ldir", NULL}, RH_LD_LIBRARY_PATH, "dir"},
        {{"-Map=file", NULL}, RH_LD_SIDE, "file"},
        {{"--Map=file", NULL}, RH_LD_SIDE, "file"},
        {{"-plugin-opt=O2", NULL}, RH_LD_PLUGIN, "O2"},
        {{"--sysroot=/x", NULL}, RH_LD_SYSROOT, "/x"},
        {{"-melf_x86_64", NULL}, RH_LD_EMULATION, "elf_x86_64"},
        {{"--build-id", NULL}, RH_LD_BUILD_ID, NULL},
        {{"--build-id=none", NULL}, RH_LD_BUILD_ID, "none"},
        {{"-shared", NULL}, RH_LD_SHARED, NULL},
        {{"--shared", NULL}, RH_LD_SHARED, NULL},
        {{"-export-dynamic", NULL}, RH_LD_OPTION, "xport-dynamic"},
        {{"--export-dynamic", NULL}, RH_LD_OPTION, NULL},
        {{"a.o", NULL}, RH_LD_INPUT, "a.o"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rh_ld ld;
        size_t count = rows[i].words[1] ? 2 : 1;
        rh_ld_parse(&ld, count, rows[i].words);
        assert_int_equal(ld.args.len, 1);
        const struct rh_ld_arg *arg = &ld.args.data[0];
        assert_int_equal(arg->role, rows[i].role);
        assert_int_equal(arg->word_count, count);
        assert_int_equal(arg->value == NULL, rows[i].value == NULL);
        if (arg->value)
            assert_string_equal(arg->value, rows[i].value);
        rh_ld_release(&ld);
    }
}

static void facts_of_the_link(void **state)
{
    (void)state;
    struct rh_ld ld;
    PARSE(&ld, "-pie", "-dynamic-linker", "ld.so", "-o", "x", "--build-id", "-plugin-opt=mcpu=v3",
          "-plugin-opt=O3", "a.o", "-lc");
    assert_true(ld.pie && ld.has_input && ld.has_build_id && !ld.shared && !ld.relocatable);
    assert_string_equal(ld.output, "x");
    assert_string_equal(ld.cpu, "v3");
    assert_string_equal(ld.lto_level, "3");
    assert_false(rh_ld_is_static(&ld));
    rh_ld_release(&ld);

    PARSE(&ld, "-static", "-pie", "--no-dynamic-linker", "--lto-O1", "a.o");
    assert_true(rh_ld_is_static(&ld));
    assert_string_equal(ld.output, "a.out");
    assert_string_equal(ld.lto_level, "1");
    assert_false(ld.has_build_id);
    assert_null(ld.cpu);
    rh_ld_release(&ld);

    PARSE(&ld, "-shared", "a.o");
    assert_true(ld.shared);
    assert_false(rh_ld_is_static(&ld));
    rh_ld_release(&ld);

    PARSE(&ld, "--version");
    assert_true(ld.query && !ld.has_input);
    rh_ld_release(&ld);

    PARSE(&ld, "-r", "-m", "elf_i386", "-plugin-opt=emit-llvm", "-pie", "-no-pie");
    assert_true(ld.relocatable && ld.emit && !ld.pie);
    assert_string_equal(ld.emulation, "elf_i386");
    rh_ld_release(&ld);
}

static void states_hold_until_changed(void **state)
{
    (void)state;
    struct rh_ld ld;
    PARSE(&ld, "-la", "-Bstatic", "-lb", "--push-state", "-Bdynamic", "-lc", "--pop-state", "-ld",
          "-Bdynamic", "-le", "--pop-state");
    static const bool expected[] = {false, true, false, true, false};
    size_t seen = 0;
    rh_vec_each (struct rh_ld_arg, arg, &ld.args)
        if (arg->role == RH_LD_LIBRARY)
            assert_int_equal(arg->is_static, expected[seen++]);
    assert_int_equal(seen, 5);
    rh_ld_release(&ld);

    PARSE(&ld, "a.o", "--start-lib", "b.o", "--end-lib", "c.o");
    assert_false(ld.args.data[0].in_lib);
    assert_true(ld.args.data[2].in_lib);
    assert_false(ld.args.data[4].in_lib);
    rh_ld_release(&ld);

    PARSE(&ld, "a.o", "--format=binary", "b.o", "-b", "elf64-x86-64", "c.o");
    assert_int_equal(ld.args.data[0].role, RH_LD_INPUT);
    assert_int_equal(ld.args.data[2].role, RH_LD_OPTION);
    assert_int_equal(ld.args.data[4].role, RH_LD_INPUT);
    rh_ld_release(&ld);
}

static void missing_value_is_survived(void **state)
{
    (void)state;
    static const char *const words[] = {"-o", "-l", "-L", "-plugin-opt", "-b", "-m", "--sysroot"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct rh_ld ld;
        PARSE(&ld, "a.o", words[i]);
        assert_int_equal(ld.args.len, 2);
        rh_ld_release(&ld);
    }
}

static void default_paths_follow_the_given(void **state)
{
    (void)state;
    struct rh_ld ld;
    PARSE(&ld, "-Lone", "a.o", "-L", "two");
    assert_int_equal(ld.given_paths, 2);
    assert_true(ld.library_paths.len > 2);
    assert_string_equal(ld.library_paths.data[1], "two");
    rh_ld_release(&ld);
    PARSE(&ld, "--sysroot=/x", "-Lone");
    assert_int_equal(ld.library_paths.len, 1);
    rh_ld_release(&ld);
    PARSE(&ld, "-nostdlib", "-Lone");
    assert_int_equal(ld.library_paths.len, 1);
    rh_ld_release(&ld);
}

static bool has_libc(const char *word)
{
    struct rh_ld ld;
    PARSE(&ld, "crt1.o", word);
    bool found = rh_ld_has_libc(&ld);
    rh_ld_release(&ld);
    return found;
}

static void libc_is_known_by_its_names(void **state)
{
    (void)state;
    assert_true(has_libc("-lc"));
    assert_true(has_libc("-l:libc.so.6"));
    assert_true(has_libc("/usr/lib/libc.a"));
    assert_true(has_libc("/lib/libc.so.6"));
    assert_false(has_libc("-lcc"));
    assert_false(has_libc("-lcrypt"));
    assert_false(has_libc("libc++.a"));
}

static const char *find_sanitizer(const char *word)
{
    struct rh_ld ld;
    PARSE(&ld, "crt1.o", word);
    const char *found = rh_ld_find_sanitizer(&ld);
    rh_ld_release(&ld);
    return found;
}

static void sanitizers_are_known_by_their_runtimes(void **state)
{
    (void)state;
    assert_string_equal(find_sanitizer("/x/libclang_rt.asan-x86_64.a"), "asan");
    assert_string_equal(find_sanitizer("/x/libclang_rt.tsan.so"), "tsan");
    assert_string_equal(find_sanitizer("-lubsan"), "ubsan");
    assert_null(find_sanitizer("/x/libclang_rt.builtins.a"));
    assert_null(find_sanitizer("/x/libclang_rt.profile.a"));
    assert_null(find_sanitizer("asan.o"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_joined_and_separate),
        cmocka_unit_test(facts_of_the_link),
        cmocka_unit_test(states_hold_until_changed),
        cmocka_unit_test(missing_value_is_survived),
        cmocka_unit_test(default_paths_follow_the_given),
        cmocka_unit_test(libc_is_known_by_its_names),
        cmocka_unit_test(sanitizers_are_known_by_their_runtimes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
