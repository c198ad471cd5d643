/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the command lines that are made for the steps of a link. */
#include "base/testing.h"

#include "driver/ldsteps.h"

#include <string.h>

#define LLD "lld --undefined-version --no-mmap-output-file -znostart-stop-gc"

static const struct rh_ld_extras merge_extras = {NULL, "RT", "GLUE", NULL, NULL, NULL};
static const struct rh_ld_extras final_extras = {"PROGRAM", "RT", "GLUE", NULL, NULL, NULL};

#define PARSE(ld, ...)                                                                             \
    do {                                                                                           \
        const char *const words_[] = {"-nostdlib", __VA_ARGS__};                                   \
        rh_ld_parse((ld), sizeof words_ / sizeof words_[0], words_);                               \
    } while (0)

/* Sets what an inspection would have found in the input of that name. */
static struct rh_ld_arg *set_content(struct rh_ld *ld, const char *value,
                                     enum rh_ld_content content)
{
    rh_vec_each (struct rh_ld_arg, arg, &ld->args)
        if (arg->value && strcmp(arg->value, value) == 0) {
            arg->content = content;
            return arg;
        }
    fail_msg("no argument %s", value);
    return NULL;
}

static void assert_line(struct rh_wordlist *argv, const char *expected)
{
    struct rh_strbuf line = RH_STRBUF_INIT;
    rh_vec_each (const char *, word, argv)
        rh_strbuf_addf(&line, "%s%s", line.len > 0 ? " " : "", *word);
    assert_string_equal(rh_strbuf_text(&line), expected);
    rh_strbuf_release(&line);
    rh_vec_free(argv);
}

static void plain_program(void **state)
{
    (void)state;
    struct rh_ld ld;
    struct rh_wordlist argv = RH_VEC_INIT;
    PARSE(&ld, "-dynamic-linker", "ld.so", "-o", "out", "crt1.o", "-plugin", "gold.so",
          "-plugin-opt=O2", "a.o", "n.o", "b.o", "-Map=m", "--fat-lto-objects", "-lc");
    set_content(&ld, "a.o", RH_LD_BITCODE);
    set_content(&ld, "b.o", RH_LD_BITCODE);
    rh_ld_make_merge(&ld, "lld", &merge_extras, "MERGED", &argv);
    assert_line(&argv, LLD " -nostdlib -dynamic-linker ld.so crt1.o "
                           "-plugin gold.so -plugin-opt=O2 GLUE a.o n.o b.o -lc RT "
                           "--fat-lto-objects --lto-emit-llvm -o MERGED");
    rh_ld_make_final(&ld, "lld", &final_extras, &argv);
    assert_line(&argv, LLD " -nostdlib -dynamic-linker ld.so -o out crt1.o "
                           "PROGRAM GLUE n.o -Map=m -lc RT --build-id "
                           "--export-dynamic-symbol=__rh_* "
                           "--export-dynamic-symbol=ompt_start_tool");
    rh_ld_make_native(&ld, "lld", RH_LD_LLD, &argv);
    assert_line(&argv, LLD " -nostdlib -dynamic-linker ld.so -o out crt1.o "
                           "-plugin gold.so -plugin-opt=O2 a.o n.o b.o -Map=m -lc");
    rh_ld_make_native(&ld, "ld", RH_LD_SYSTEM, &argv);
    assert_line(&argv, "ld -nostdlib -dynamic-linker ld.so -o out crt1.o a.o n.o b.o -Map=m -lc");
    ld.has_plain_bitcode = true;
    rh_ld_make_native(&ld, "ld", RH_LD_SYSTEM, &argv);
    assert_line(&argv, "ld -nostdlib -dynamic-linker ld.so -o out crt1.o -plugin gold.so "
                       "-plugin-opt=O2 a.o n.o b.o -Map=m -lc");
    rh_ld_release(&ld);
}

static void shared_library(void **state)
{
    (void)state;
    struct rh_ld ld;
    struct rh_wordlist argv = RH_VEC_INIT;
    const struct rh_ld_extras extras = {"PROGRAM", NULL, "GLUE", NULL, NULL, NULL};
    PARSE(&ld, "-shared", "--build-id=none", "a.o");
    set_content(&ld, "a.o", RH_LD_BITCODE);
    rh_ld_make_final(&ld, "lld", &extras, &argv);
    assert_line(&argv, LLD " -nostdlib -shared --build-id=none PROGRAM GLUE");
    rh_ld_release(&ld);
}

static void static_program_wraps(void **state)
{
    (void)state;
    struct rh_ld ld;
    struct rh_wordlist argv = RH_VEC_INIT;
    const char *names[] = {"one", "two"};
    struct rh_wordlist wraps = {names, 2, 2};
    const struct rh_ld_extras tracing = {NULL, "RT", "GLUE", &wraps, NULL, NULL};
    const struct rh_ld_extras extras = {"PROGRAM", "RT", "GLUE", NULL, &wraps, NULL};
    PARSE(&ld, "-static", "--build-id", "a.o");
    set_content(&ld, "a.o", RH_LD_BITCODE);
    rh_ld_make_merge(&ld, "lld", &tracing, "MERGED", &argv);
    assert_line(&argv, LLD " -nostdlib -static --build-id GLUE "
                           "--trace-symbol=one --trace-symbol=two a.o RT "
                           "--fat-lto-objects --lto-emit-llvm -o MERGED");
    rh_ld_make_final(&ld, "lld", &extras, &argv);
    assert_line(&argv, LLD " -nostdlib -static --build-id PROGRAM GLUE "
                           "--wrap=one --wrap=two RT");
    rh_ld_release(&ld);
}

static void archives_and_libraries(void **state)
{
    (void)state;
    struct rh_ld ld;
    struct rh_wordlist argv = RH_VEC_INIT;
    PARSE(&ld, "--build-id", "-static", "n.o", "-lmixed", "pure.a", "native.a");
    set_content(&ld, "mixed", RH_LD_MIXED_ARCHIVE)->native_path = "COPY";
    set_content(&ld, "pure.a", RH_LD_BITCODE);
    rh_ld_make_final(&ld, "lld", &final_extras, &argv);
    assert_line(&argv, LLD " -nostdlib --build-id -static n.o PROGRAM GLUE "
                           "COPY native.a RT");
    rh_ld_release(&ld);
}

static void program_stays_out_of_start_lib(void **state)
{
    (void)state;
    struct rh_ld ld;
    struct rh_wordlist argv = RH_VEC_INIT;
    PARSE(&ld, "--build-id", "-static", "--start-lib", "n.o", "a.o", "--end-lib", "b.o");
    set_content(&ld, "a.o", RH_LD_BITCODE);
    set_content(&ld, "b.o", RH_LD_BITCODE);
    rh_ld_make_final(&ld, "lld", &final_extras, &argv);
    assert_line(&argv, LLD " -nostdlib --build-id -static PROGRAM GLUE "
                           "--start-lib n.o --end-lib RT");
    rh_ld_release(&ld);
}

static void hidden_objects_are_native(void **state)
{
    (void)state;
    struct rh_ld ld;
    struct rh_wordlist argv = RH_VEC_INIT;
    PARSE(&ld, "--build-id", "-static", "a.o", "b.o");
    struct rh_ld_arg *hidden = set_content(&ld, "a.o", RH_LD_BITCODE);
    hidden->hidden = true;
    hidden->merge_path = "HIDDEN";
    set_content(&ld, "b.o", RH_LD_BITCODE);
    rh_ld_make_merge(&ld, "lld", &merge_extras, "MERGED", &argv);
    assert_line(&argv, LLD " -nostdlib --build-id -static HIDDEN GLUE b.o RT "
                           "--fat-lto-objects --lto-emit-llvm -o MERGED");
    rh_ld_make_final(&ld, "lld", &final_extras, &argv);
    assert_line(&argv, LLD " -nostdlib --build-id -static a.o PROGRAM GLUE RT");
    rh_ld_release(&ld);
}

static void default_paths_are_for_lld(void **state)
{
    (void)state;
    struct rh_ld ld;
    struct rh_wordlist argv = RH_VEC_INIT;
    const char *const words[] = {"a.o", "-Lmine"};
    rh_ld_parse(&ld, 2, words);
    rh_ld_make_native(&ld, "lld", RH_LD_LLD, &argv);
    assert_string_equal(argv.data[5], "-Lmine");
    assert_string_equal(rh_vec_last(&argv), "-L/usr/lib");
    rh_vec_free(&argv);
    rh_ld_make_native(&ld, "ld", RH_LD_SYSTEM, &argv);
    assert_line(&argv, "ld a.o -Lmine");
    rh_ld_release(&ld);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_program),
        cmocka_unit_test(shared_library),
        cmocka_unit_test(static_program_wraps),
        cmocka_unit_test(archives_and_libraries),
        cmocka_unit_test(program_stays_out_of_start_lib),
        cmocka_unit_test(hidden_objects_are_native),
        cmocka_unit_test(default_paths_are_for_lld),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
