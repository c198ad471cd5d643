/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions ask not to be instrumented, and where their code is after inlining. */
#include "ir/testing.h"

/* `whole` and `thread` are annotated, `address` for another sanitizer. The first instruction of
 * `caller` was inlined from a copy of `whole` in another file's debug information. */
static const char annotated[] =
    "@ignore = private constant [16 x i8] c\"racehive-ignore\\00\"\n"
    "@sanitize = private constant [21 x i8] c\"racehive-no-sanitize\\00\"\n"
    "@thread_text = private constant [7 x i8] c\"thread\\00\"\n"
    "@address_text = private constant [8 x i8] c\"address\\00\"\n"
    "@file = private constant [4 x i8] c\"a.c\\00\"\n"
    "@thread_args = private constant { ptr, ptr } { ptr @address_text, ptr @thread_text }\n"
    "@address_args = private constant { ptr } { ptr @address_text }\n"
    "@shared = global i32 0\n"
    "@llvm.global.annotations = appending global [3 x { ptr, ptr, ptr, i32, ptr }] [\n"
    "  { ptr, ptr, ptr, i32, ptr } { ptr @whole, ptr @ignore, ptr @file, i32 1, ptr null },\n"
    "  { ptr, ptr, ptr, i32, ptr } { ptr @thread, ptr @sanitize, ptr @file, i32 2, ptr "
    "@thread_args },\n"
    "  { ptr, ptr, ptr, i32, ptr } { ptr @address, ptr @sanitize, ptr @file, i32 3, ptr "
    "@address_args }\n"
    "], section \"llvm.metadata\"\n"
    "define internal void @whole() !dbg !4 { ret void }\n"
    "define void @thread() !dbg !5 { ret void }\n"
    "define void @address() !dbg !6 { ret void }\n"
    "define void @caller() !dbg !7 {\n"
    "  store i32 1, ptr @shared, !dbg !11\n"
    "  store i32 2, ptr @shared, !dbg !10\n"
    "  ret void\n"
    "}\n"
    "!llvm.dbg.cu = !{!0}\n"
    "!llvm.module.flags = !{!2}\n"
    "!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug)\n"
    "!1 = !DIFile(filename: \"a.c\", directory: \"/src\")\n"
    "!2 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
    "!3 = !DISubroutineType(types: !{null})\n"
    "!4 = distinct !DISubprogram(name: \"whole\", file: !1, line: 1, type: !3, spFlags: "
    "DISPFlagDefinition, unit: !0)\n"
    "!5 = distinct !DISubprogram(name: \"thread\", file: !1, line: 2, type: !3, spFlags: "
    "DISPFlagDefinition, unit: !0)\n"
    "!6 = distinct !DISubprogram(name: \"address\", file: !1, line: 3, type: !3, spFlags: "
    "DISPFlagDefinition, unit: !0)\n"
    "!7 = distinct !DISubprogram(name: \"caller\", file: !1, line: 9, type: !3, spFlags: "
    "DISPFlagDefinition, unit: !0)\n"
    "!8 = distinct !DISubprogram(name: \"whole\", file: !1, line: 1, type: !3, spFlags: "
    "DISPFlagDefinition, unit: !0)\n"
    "!9 = distinct !DILexicalBlock(scope: !8, file: !1, line: 1)\n"
    "!10 = !DILocation(line: 10, scope: !7)\n"
    "!11 = !DILocation(line: 1, scope: !9, inlinedAt: !10)\n";

static void annotated_functions_are_ignored(void **state)
{
    struct rh_module *m = open_text(annotated);

    (void)state;
    assert_true(get_function(m, "whole")->no_instrument);
    assert_true(get_function(m, "thread")->no_instrument);
    assert_false(get_function(m, "address")->no_instrument);
    assert_false(get_function(m, "caller")->no_instrument);
    rh_ir_close(m);
}

static void inlined_code_is_ignored(void **state)
{
    struct rh_module *m = open_text(annotated);
    const struct rh_value *inlined = get_function(m, "caller")->blocks[0]->first;

    (void)state;
    assert_true(inlined->loc->is_ignored);
    assert_false(inlined->loc->inlined_at->is_ignored);
    assert_false(inlined->next->loc->is_ignored);
    rh_ir_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(annotated_functions_are_ignored),
        cmocka_unit_test(inlined_code_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
