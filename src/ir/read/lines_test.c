/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of lines for code that has none: each case asks for the nearest line of the list in
 * lines.c, and that it is marked as near.
 */
#include "ir/testing.h"

/* Functions f (line 1), h (line 30) and g (line 20), which is inlined into f in line 5 and into h
 * in line 31. */
#define DEBUG_INFO                                                                                 \
    "!llvm.dbg.cu = !{!1}\n!llvm.module.flags = !{!0}\n"                                           \
    "!0 = !{i32 2, !\"Debug Info Version\", i32 3}\n"                                              \
    "!1 = distinct !DICompileUnit(language: DW_LANG_C11, file: !2, emissionKind: FullDebug)\n"     \
    "!2 = !DIFile(filename: \"a.c\", directory: \"/src\")\n"                                       \
    "!3 = distinct !DISubprogram(name: \"f\", file: !2, line: 1, unit: !1)\n"                      \
    "!4 = !DILocation(line: 0, scope: !3)\n"                                                       \
    "!5 = !DILocation(line: 2, column: 5, scope: !3)\n"                                            \
    "!6 = !DILocation(line: 3, column: 6, scope: !3)\n"                                            \
    "!7 = !DILocation(line: 4, column: 7, scope: !3)\n"                                            \
    "!8 = distinct !DISubprogram(name: \"g\", file: !2, line: 20, unit: !1)\n"                     \
    "!9 = distinct !DILocation(line: 5, column: 8, scope: !3)\n"                                   \
    "!10 = !DILocation(line: 0, scope: !8, inlinedAt: !9)\n"                                       \
    "!11 = !DILocation(line: 21, column: 9, scope: !8, inlinedAt: !9)\n"                           \
    "!12 = distinct !DILocation(line: 0, scope: !3)\n"                                             \
    "!13 = !DILocation(line: 21, column: 9, scope: !8, inlinedAt: !12)\n"                          \
    "!14 = distinct !DISubprogram(name: \"h\", file: !2, line: 30, unit: !1)\n"                    \
    "!15 = distinct !DILocation(line: 31, column: 8, scope: !14)\n"                                \
    "!16 = !DILocation(line: 0, scope: !8, inlinedAt: !15)\n"

static void assert_near(const struct rh_value *inst, uint32_t line, const char *function)
{
    assert_non_null(inst->loc);
    assert_string_equal(inst->loc->file, "/src/a.c");
    assert_int_equal(inst->loc->line, line);
    assert_string_equal(inst->loc->function, function);
    assert_true(inst->loc->is_near);
}

static void test_own_lines_are_not_near(void **state)
{
    struct rh_module *m = open_text("@x = global i32 0\n"
                                    "define void @f() !dbg !3 {\n"
                                    "  store i32 1, ptr @x, !dbg !5\n"
                                    "  ret void, !dbg !6\n}\n" DEBUG_INFO);
    const struct rh_function *f = get_function(m, "f");

    (void)state;
    assert_int_equal(get_first(f, RH_OP_STORE)->loc->line, 2);
    assert_false(get_first(f, RH_OP_STORE)->loc->is_near);
    assert_false(f->loc->is_near);
    rh_ir_close(m);
}

/* The read of a bit-field has no line, nor have the operations that put the new bits in. */
static void test_bit_field_is_read_where_it_is_written(void **state)
{
    struct rh_module *m = open_text("@x = global i8 0\n"
                                    "define void @f() !dbg !3 {\n"
                                    "  store volatile i8 0, ptr @x, !dbg !5\n"
                                    "  %old = load i8, ptr @x, !dbg !4\n"
                                    "  %rest = and i8 %old, -8\n"
                                    "  %new = or i8 %rest, 5, !dbg !4\n"
                                    "  store i8 %new, ptr @x, !dbg !6\n"
                                    "  ret void, !dbg !7\n}\n" DEBUG_INFO);
    const struct rh_function *f = get_function(m, "f");

    (void)state;
    assert_near(get_value(f, "old"), 3, "f");
    assert_false(get_nth(f, RH_OP_STORE, 1)->loc->is_near);
    rh_ir_close(m);
}

static void test_first_user_counts(void **state)
{
    struct rh_module *m = open_text("@x = global i32 0\n"
                                    "define i32 @f(i1 %c) !dbg !3 {\n"
                                    "  %a = load i32, ptr @x, !dbg !4\n"
                                    "  br i1 %c, label %one, label %two, !dbg !5\n"
                                    "one:\n"
                                    "  %s = add i32 %a, 1, !dbg !6\n"
                                    "  ret i32 %s, !dbg !7\n"
                                    "two:\n"
                                    "  %t = mul i32 %a, 3, !dbg !7\n"
                                    "  ret i32 %t, !dbg !7\n}\n" DEBUG_INFO);

    (void)state;
    assert_near(get_value(get_function(m, "f"), "a"), 3, "f");
    rh_ir_close(m);
}

static void test_neighbours(void **state)
{
    struct rh_module *m = open_text("@x = global i32 0\n"
                                    "define void @f() !dbg !3 {\n"
                                    "  store volatile i32 1, ptr @x, !dbg !4\n"
                                    "  store volatile i32 2, ptr @x, !dbg !6\n"
                                    "  store volatile i32 3, ptr @x, !dbg !4\n"
                                    "  ret void, !dbg !7\n}\n" DEBUG_INFO);
    const struct rh_function *f = get_function(m, "f");

    (void)state;
    assert_near(get_nth(f, RH_OP_STORE, 0), 3, "f");
    assert_near(get_nth(f, RH_OP_STORE, 2), 3, "f");
    rh_ir_close(m);
}

static void test_dominating_code_before_following_code(void **state)
{
    struct rh_module *m = open_text("@x = global i32 0\n"
                                    "define void @f(i1 %c) !dbg !3 {\n"
                                    "  store volatile i32 1, ptr @x, !dbg !5\n"
                                    "  br i1 %c, label %one, label %two, !dbg !6\n"
                                    "one:\n"
                                    "  store volatile i32 2, ptr @x, !dbg !7\n"
                                    "  br label %two, !dbg !7\n"
                                    "two:\n"
                                    "  store volatile i32 3, ptr @x, !dbg !4\n"
                                    "  br label %end, !dbg !4\n"
                                    "end:\n"
                                    "  ret void, !dbg !7\n}\n" DEBUG_INFO);

    (void)state;
    assert_near(get_nth(get_function(m, "f"), RH_OP_STORE, 2), 3, "f");
    rh_ir_close(m);
}

static void test_following_code(void **state)
{
    struct rh_module *m = open_text("@x = global i32 0\n"
                                    "define void @f() !dbg !3 {\n"
                                    "  fence seq_cst, !dbg !4\n"
                                    "  br label %end, !dbg !4\n"
                                    "end:\n"
                                    "  ret void, !dbg !7\n}\n" DEBUG_INFO);

    (void)state;
    assert_near(get_first(get_function(m, "f"), RH_OP_FENCE), 4, "f");
    rh_ir_close(m);
}

static void test_line_of_the_function(void **state)
{
    struct rh_module *m = open_text("@x = global i32 0\n"
                                    "define void @f() !dbg !3 {\n"
                                    "  store i32 1, ptr @x, !dbg !4\n"
                                    "  ret void\n}\n" DEBUG_INFO);

    (void)state;
    assert_near(get_first(get_function(m, "f"), RH_OP_STORE), 1, "f");
    rh_ir_close(m);
}

/* What is known to be of an inlined function stays in it. */
static void test_lines_of_inlined_code(void **state)
{
    struct rh_module *m = open_text("@x = global i32 0\n"
                                    "define void @f() !dbg !3 {\n"
                                    "  store volatile i32 1, ptr @x, !dbg !5\n"
                                    "  store volatile i32 2, ptr @x, !dbg !10\n"
                                    "  br label %next, !dbg !6\n"
                                    "next:\n"
                                    "  store volatile i32 3, ptr @x, !dbg !11\n"
                                    "  ret void, !dbg !7\n}\n"
                                    "define void @h() !dbg !14 {\n"
                                    "  store volatile i32 2, ptr @x, !dbg !16\n"
                                    "  ret void, !dbg !15\n}\n" DEBUG_INFO);
    const struct rh_value *store = get_nth(get_function(m, "f"), RH_OP_STORE, 1);

    (void)state;
    assert_near(store, 21, "g");
    assert_int_equal(store->loc->inlined_at->line, 5);
    assert_false(store->loc->inlined_at->is_near);
    store = get_first(get_function(m, "h"), RH_OP_STORE);
    assert_near(store, 20, "g");
    assert_int_equal(store->loc->inlined_at->line, 31);
    rh_ir_close(m);
}

/* Of code without a location it is only known which function holds it. */
static void test_code_without_a_location(void **state)
{
    struct rh_module *m = open_text("@x = global i32 0\n"
                                    "define i32 @f() !dbg !3 {\n"
                                    "  %v = load i32, ptr @x\n"
                                    "  store volatile i32 2, ptr @x\n"
                                    "  %w = add i32 %v, 1, !dbg !11\n"
                                    "  ret i32 %w\n}\n" DEBUG_INFO);
    const struct rh_function *f = get_function(m, "f");

    (void)state;
    assert_near(get_value(f, "v"), 21, "g");
    assert_near(get_first(f, RH_OP_STORE), 5, "f");
    assert_null(get_first(f, RH_OP_STORE)->loc->inlined_at);
    rh_ir_close(m);
}

static void test_calls_without_a_line_in_a_chain(void **state)
{
    struct rh_module *m = open_text("@x = global i32 0\n"
                                    "define void @f() !dbg !3 {\n"
                                    "  store i32 2, ptr @x, !dbg !13\n"
                                    "  ret void\n}\n" DEBUG_INFO);
    const struct rh_loc *loc = get_first(get_function(m, "f"), RH_OP_STORE)->loc;

    (void)state;
    assert_int_equal(loc->line, 21);
    assert_false(loc->is_near);
    assert_int_equal(loc->inlined_at->line, 1);
    assert_true(loc->inlined_at->is_near);
    rh_ir_close(m);
}

/* The compiler's own functions have no line, or no debug information: the line is that of the
 * variable they access, or of the first one if they go through a pointer. */
static void test_functions_of_the_compiler(void **state)
{
    struct rh_module *m =
        open_text("@x = global i32 0, !dbg !20\n"
                  "define void @start() !dbg !30 {\n"
                  "  store i32 1, ptr @x, !dbg !31\n"
                  "  ret void\n}\n"
                  "define void @init() !dbg !34 {\n"
                  "  store i32 1, ptr @x, !dbg !33\n"
                  "  ret void\n}\n"
                  "define void @wrapper(ptr %p) {\n"
                  "  store volatile i32 1, ptr %p\n"
                  "  store volatile i32 1, ptr @x\n"
                  "  ret void\n}\n"
                  "define void @nothing(ptr %p) {\n"
                  "  store volatile i32 1, ptr %p\n"
                  "  ret void\n}\n"
                  "!20 = !DIGlobalVariableExpression(var: !21, expr: !DIExpression())\n"
                  "!21 = distinct !DIGlobalVariable(name: \"x\", scope: !1, file: !2, line: 40, "
                  "type: !22, isDefinition: true)\n"
                  "!22 = !DIBasicType(name: \"int\", size: 32, encoding: DW_ATE_signed)\n"
                  "!30 = distinct !DISubprogram(linkageName: \"_GLOBAL__sub_I_a.c\", file: !2, "
                  "flags: DIFlagArtificial, unit: !1)\n"
                  "!31 = !DILocation(line: 0, scope: !30)\n"
                  "!32 = distinct !DILocation(line: 0, scope: !34)\n"
                  "!34 = distinct !DISubprogram(linkageName: \"_GLOBAL__sub_I_b.c\", file: !2, "
                  "flags: DIFlagArtificial, unit: !1)\n"
                  "!33 = !DILocation(line: 21, scope: !8, inlinedAt: !32)\n" DEBUG_INFO);
    const struct rh_loc *inlined = get_first(get_function(m, "init"), RH_OP_STORE)->loc;

    (void)state;
    assert_near(get_first(get_function(m, "start"), RH_OP_STORE), 40, "");
    assert_int_equal(inlined->line, 21);
    assert_int_equal(inlined->inlined_at->line, 21);
    assert_true(inlined->inlined_at->is_near);
    assert_near(get_nth(get_function(m, "wrapper"), RH_OP_STORE, 0), 40, "wrapper");
    assert_near(get_nth(get_function(m, "wrapper"), RH_OP_STORE, 1), 40, "wrapper");
    assert_null(get_first(get_function(m, "nothing"), RH_OP_STORE)->loc);
    rh_ir_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_lines_are_not_near),
        cmocka_unit_test(test_bit_field_is_read_where_it_is_written),
        cmocka_unit_test(test_first_user_counts),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_dominating_code_before_following_code),
        cmocka_unit_test(test_following_code),
        cmocka_unit_test(test_line_of_the_function),
        cmocka_unit_test(test_lines_of_inlined_code),
        cmocka_unit_test(test_code_without_a_location),
        cmocka_unit_test(test_calls_without_a_line_in_a_chain),
        cmocka_unit_test(test_functions_of_the_compiler),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
