/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of opening modules: what is no module is refused with a message, and nothing ends the
 * process.
 */
#include <stdlib.h>
#include <unistd.h>

#include <llvm-c/BitWriter.h>

#include "base/fs.h"
#include "base/mem.h"
#include "ir/graph/cfg.h"
#include "ir/module.h"
#include "ir/testing.h"
#include "ir/testing_debug.h"

static void assert_refused(const void *data, size_t size)
{
    struct rh_module *m = (struct rh_module *)&m;

    assert_int_equal(rh_ir_open_memory("bad", data, size, &m), RH_ERR_INPUT);
    assert_null(m);
    assert_non_null(strstr(rh_error_text(), "bad"));
    assert_null(strchr(rh_error_text(), '\n'));
}

static LLVMMemoryBufferRef write_bitcode(const char *text)
{
    struct rh_module *m = open_text(text);
    LLVMMemoryBufferRef buffer = LLVMWriteBitcodeToMemoryBuffer(m->llvm);

    rh_ir_close(m);
    return buffer;
}

static void test_bitcode(void **state)
{
    LLVMMemoryBufferRef buffer = write_bitcode(bank_module);
    struct rh_module *m;

    (void)state;
    assert_int_equal(
        rh_ir_open_memory("good", LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer), &m),
        RH_OK);
    assert_int_equal(get_function(m, "transfer")->inst_count, 10);
    rh_ir_close(m);
    LLVMDisposeMemoryBuffer(buffer);
}

static void test_empty_input(void **state)
{
    (void)state;
    assert_refused("", 0);
}

/* Cut anywhere, from the first byte to the last. */
static void test_truncated_bitcode(void **state)
{
    LLVMMemoryBufferRef buffer = write_bitcode(bank_module);
    size_t size = LLVMGetBufferSize(buffer);

    (void)state;
    for (size_t len = 1; len < size; len += len < 64 || size - len < 64 ? 1 : 61) {
        char *copy = rh_alloc(len); /* so that reading beyond it is an error of its own */

        memcpy(copy, LLVMGetBufferStart(buffer), len);
        assert_refused(copy, len);
        free(copy);
    }
    LLVMDisposeMemoryBuffer(buffer);
}

static void test_random_bytes(void **state)
{
    uint64_t random = 1;
    unsigned char bytes[512];

    (void)state;
    for (int round = 0; round < 300; round++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (unsigned char)(random >> 40);
        }
        /* Once as text, once with bitcode's magic number. */
        assert_refused(bytes, sizeof bytes);
        memcpy(bytes, "BC\xC0\xDE", 4);
        assert_refused(bytes, sizeof bytes);
    }
}

static void test_wrong_text(void **state)
{
    static const char *const texts[] = {
        "this is no module\n",
        "define void @f() {\n",
        "define i32 @f() {\n  ret i64 0\n}\n",
        "define void @f() {\n  call void @absent()\n  ret void\n}\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_refused(texts[i], strlen(texts[i]));
}

/* Well formed, but no valid module: LLVM aborts on the first of these if it may. */
static void test_invalid_modules(void **state)
{
    static const char debug[] = "define void @f(i1 %c) {\n"
                                "entry:\n"
                                "  br i1 %c, label %a, label %b\n"
                                "a:\n"
                                "  %x = add i32 1, 2\n"
                                "  br label %b\n"
                                "b:\n"
                                "  %y = add i32 %x, 1\n"
                                "  ret void\n"
                                "}\n"
                                "!llvm.module.flags = !{!0}\n"
                                "!0 = !{i32 2, !\"Debug Info Version\", i32 3}\n";

    (void)state;
    assert_refused(debug, strlen(debug));
    assert_refused(debug, (size_t)(strstr(debug, "!llvm") - debug));
}

/* Debug information that LLVM cannot use costs the locations, not the module. */
static void test_invalid_debug_information(void **state)
{
    static const char *const endings[] = {
        "!llvm.module.flags = !{!9}\n!9 = !{i32 2, !\"Debug Info Version\", i32 3}\n",
        "!llvm.module.flags = !{!9}\n!9 = !{i32 2, !\"Debug Info Version\", i32 1}\n",
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char *text = rh_format(
            "define void @f() !dbg !1 {\n"
            "  ret void\n"
            "}\n"
            "!llvm.dbg.cu = !{!0}\n"
            "!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !2)\n"
            "!1 = distinct !DISubprogram(name: \"f\", file: !2, line: 1, type: !2, unit: !0,\n"
            "                            spFlags: DISPFlagDefinition)\n"
            "!2 = !DIFile(filename: \"f.c\", directory: \"/\")\n%s",
            endings[i]);
        struct rh_module *m = open_text(text);

        assert_null(get_function(m, "f")->loc);
        assert_int_equal(get_function(m, "f")->inst_count, 1);
        rh_ir_close(m);
        free(text);
    }
}

static void test_files(void **state)
{
    LLVMMemoryBufferRef buffer = write_bitcode(bank_module);
    struct rh_module *m;
    char *dir, *path;

    (void)state;
    assert_int_equal(rh_fs_make_temp_dir(&dir), RH_OK);
    path = rh_path_join(dir, "module.bc");
    assert_int_equal(rh_ir_open(path, &m), RH_ERR_NOT_FOUND);
    assert_null(m);
    assert_int_equal(rh_fs_write(path, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer), 0644),
                     RH_OK);
    assert_int_equal(rh_ir_open(path, &m), RH_OK);
    rh_ir_close(m);
    assert_int_equal(rh_fs_write(path, bank_module, strlen(bank_module), 0644), RH_OK);
    assert_int_equal(rh_ir_open(path, &m), RH_ERR_INPUT);
    assert_non_null(strstr(rh_error_text(), path));
    assert_int_equal(rh_fs_write(path, "", 0, 0644), RH_OK);
    assert_int_equal(rh_ir_open(path, &m), RH_ERR_INPUT);
    assert_int_equal(rh_ir_open(dir, &m) == RH_OK, false);
    assert_int_equal(rh_fs_remove_tree(dir), RH_OK);
    free(path);
    free(dir);
    LLVMDisposeMemoryBuffer(buffer);
}

/* Without a layout of its own, a module has that of its target. */
static void test_layout_of_the_target(void **state)
{
    struct rh_module *m = open_text("target triple = \"x86_64-pc-linux-gnu\"\n"
                                    "@x = global i128 0\n");
    struct rh_module *unknown = open_text("target triple = \"nothing-at-all\"\n"
                                          "@x = global i32 0\n");

    (void)state;
    assert_int_equal(rh_ir_find_global(m, "x")->global->value_type->align, 16);
    assert_int_equal(rh_ir_find_global(unknown, "x")->global->value_type->align, 4);
    rh_ir_close(m);
    rh_ir_close(unknown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bitcode),
        cmocka_unit_test(test_empty_input),
        cmocka_unit_test(test_truncated_bitcode),
        cmocka_unit_test(test_random_bytes),
        cmocka_unit_test(test_wrong_text),
        cmocka_unit_test(test_invalid_modules),
        cmocka_unit_test(test_invalid_debug_information),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_layout_of_the_target),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
