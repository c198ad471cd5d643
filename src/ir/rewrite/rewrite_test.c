/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of rewriting: inserted assembly, split blocks, added data. */
#include "ir/rewrite/rewrite_testing.h"
#include "ir/testing_shapes.h"

/* A function whose debug information says things between its instructions. */
static const char spoken[] =
    "target triple = \"x86_64-unknown-linux-gnu\"\n"
    "define i32 @spoken(ptr %p, i1 %c) !dbg !3 {\n"
    "entry:\n"
    "  %room = alloca i32\n"
    "  #dbg_value(i32 1, !6, !DIExpression(), !7)\n"
    "  %a = load i32, ptr %p, !dbg !8\n"
    "  #dbg_value(i32 %a, !6, !DIExpression(), !7)\n"
    "  store i32 7, ptr %p, !dbg !9\n"
    "  #dbg_value(!DIArgList(i32 %a, i32 %a), !6, !DIExpression(DW_OP_LLVM_arg, 0,"
    " DW_OP_LLVM_arg, 1, DW_OP_plus, DW_OP_stack_value), !7)\n"
    "  %late = alloca i64\n"
    "  store i64 3, ptr %late, !dbg !10\n"
    "  #dbg_value(i32 3, !6, !DIExpression(), !7)\n"
    "  br i1 %c, label %one, label %two, !dbg !11\n"
    "one:\n"
    "  br label %two, !dbg !12\n"
    "two:\n"
    "  %x = phi i32 [ %a, %entry ], [ 5, %one ], !dbg !13\n"
    "  #dbg_value(i32 %x, !6, !DIExpression(), !7)\n"
    "  ret i32 %x, !dbg !14\n"
    "}\n"
    "!llvm.dbg.cu = !{!0}\n"
    "!llvm.module.flags = !{!2}\n"
    "!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)\n"
    "!1 = !DIFile(filename: \"spoken.c\", directory: \"/src\")\n"
    "!2 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
    "!3 = distinct !DISubprogram(name: \"spoken\", file: !1, line: 1, type: !4, unit: !0,"
    " spFlags: DISPFlagDefinition)\n"
    "!4 = !DISubroutineType(types: !{})\n"
    "!5 = !DIBasicType(name: \"int\", size: 32, encoding: DW_ATE_signed)\n"
    "!6 = !DILocalVariable(name: \"v\", scope: !3, file: !1, line: 2, type: !5)\n"
    "!7 = !DILocation(line: 2, scope: !3)\n"
    "!8 = !DILocation(line: 10, scope: !3)\n"
    "!9 = !DILocation(line: 20, scope: !3)\n"
    "!10 = !DILocation(line: 30, scope: !3)\n"
    "!11 = !DILocation(line: 40, scope: !3)\n"
    "!12 = !DILocation(line: 50, scope: !3)\n"
    "!13 = !DILocation(line: 60, scope: !3)\n"
    "!14 = !DILocation(line: 70, scope: !3)\n";

static enum rh_status insert_nop(struct rh_module *m, struct rh_value *v, bool after)
{
    return rh_rewrite_insert_asm(m, v->handle, after, "nop", "", NULL, 0);
}

static void test_insert_before(void **state)
{
    struct workshop *w = *state;
    struct rh_module *m = open_text(spoken);
    struct rh_value *load = find_inst(m, "spoken", RH_OP_LOAD, NULL);
    struct rh_asm_operand operands[] = {
        {.value = load->ops[0], .is_memory = true},
        {.handle = LLVMConstInt(LLVMInt32TypeInContext(m->context), 77, false)},
    };
    assert_ok(rh_rewrite_insert_asm(m, load->handle, false, "# $0 $1", "*m,i", operands, 2));
    assert_ok(rh_ir_verify(m));
    LLVMValueRef call = LLVMGetPreviousInstruction(load->handle);
    assert_non_null(LLVMIsACallInst(call));
    assert_int_equal(line_of(call), 10);
    assert_int_equal(line_of(load->handle), 10);
    const char *text = print_function(w, m, "spoken");
    assert_order(text, "dbg_value(i32 1,", "call void asm sideeffect \"# $0 $1\", \"*m,i\"",
                 "ptr elementtype(i8) %p, i32 77", "%a = load", "store i32 7");
    assert_int_equal(count_said(text), 5);
    rh_ir_close(m);
}

static void test_insert_after(void **state)
{
    struct workshop *w = *state;
    struct rh_module *m = open_text(spoken);
    struct rh_value *load = find_inst(m, "spoken", RH_OP_LOAD, NULL);
    assert_ok(insert_nop(m, load, true));
    assert_ok(rh_ir_verify(m));
    LLVMValueRef call = LLVMGetNextInstruction(load->handle);
    assert_non_null(LLVMIsACallInst(call));
    assert_int_equal(line_of(call), 10);
    const char *text = print_function(w, m, "spoken");
    assert_order(text, "%a = load", "asm sideeffect \"nop\"", "dbg_value(i32 %a,", "store i32 7");
    assert_int_equal(count_said(text), 5);
    rh_ir_close(m);
}

static const char odd_places[] =
    "declare i32 @f(ptr)\n"
    "declare i32 @__gxx_personality_v0(...)\n"
    "define i32 @tail(ptr %p) {\n"
    "  %r = musttail call i32 @f(ptr %p)\n"
    "  ret i32 %r\n"
    "}\n"
    "define i32 @unwinds(ptr %p) personality ptr @__gxx_personality_v0 {\n"
    "entry:\n"
    "  %r = invoke i32 @f(ptr %p) to label %good unwind label %bad\n"
    "good:\n"
    "  %x = phi i32 [ %r, %entry ]\n"
    "  ret i32 %x\n"
    "bad:\n"
    "  %pad = landingpad { ptr, i32 } cleanup\n"
    "  %y = load i32, ptr %p\n"
    "  resume { ptr, i32 } %pad\n"
    "}\n";

static void test_odd_places(void **state)
{
    struct workshop *w = *state;
    static const struct {
        const char *function;
        enum rh_op op;
        enum rh_status before, after;
    } places[] = {
        {"tail", RH_OP_CALL, RH_OK, RH_ERR_UNSUPPORTED},
        {"tail", RH_OP_RET, RH_ERR_UNSUPPORTED, RH_ERR_UNSUPPORTED},
        {"unwinds", RH_OP_INVOKE, RH_OK, RH_ERR_UNSUPPORTED},
        {"unwinds", RH_OP_PHI, RH_ERR_UNSUPPORTED, RH_ERR_UNSUPPORTED},
        {"unwinds", RH_OP_LANDINGPAD, RH_ERR_UNSUPPORTED, RH_OK},
        {"unwinds", RH_OP_LOAD, RH_OK, RH_OK},
        {"unwinds", RH_OP_RESUME, RH_OK, RH_ERR_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct rh_module *m = open_text(odd_places);
        struct rh_value *v = find_inst(m, places[i].function, places[i].op, NULL);
        const char *text = print_module(w, m);
        assert_int_equal(insert_nop(m, v, false), places[i].before);
        assert_ok(rh_ir_verify(m));
        assert_int_equal(strcmp(text, print_module(w, m)) != 0, places[i].before == RH_OK);
        text = print_module(w, m);
        assert_int_equal(insert_nop(m, v, true), places[i].after);
        assert_ok(rh_ir_verify(m));
        assert_int_equal(strcmp(text, print_module(w, m)) != 0, places[i].after == RH_OK);
        void *prefix;
        assert_int_equal(rh_rewrite_split_before(m, v, &prefix), places[i].before);
        assert_ok(rh_ir_verify(m));
        rh_ir_close(m);
    }
}

/* Assembly at every access of a whole program, with the access's address as an operand. */
static void insert_everywhere(struct rh_module *m)
{
    struct inst_vec insts = RH_VEC_INIT;
    list_instructions(m, &insts);
    size_t count = 0;
    rh_vec_each (struct rh_value *, it, &insts) {
        struct rh_value *pointer = rh_ir_pointer(*it);
        if (!pointer)
            continue;
        struct rh_asm_operand operand = {.value = pointer, .is_memory = true};
        assert_ok(
            rh_rewrite_insert_asm(m, (*it)->handle, count++ & 1, "nop # $0", "*m", &operand, 1));
    }
    assert_true(count > 20);
    rh_vec_free(&insts);
}

static void test_insert_everywhere(void **state)
{
    struct workshop *w = *state;
    static const char *const sources[] = {TESTDATA("loops.c"), TESTDATA("unwind.cpp")};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        const char *expected = compile_and_run(w, sources[i], "-O2");
        struct rh_module *m = open_file(compile(w, sources[i], "-O2"));
        size_t said = count_said(print_module(w, m));
        insert_everywhere(m);
        assert_ok(rh_ir_verify(m));
        assert_int_equal(count_said(print_module(w, m)), said);
        const char *object = generate(w, m, 2);
        check_dwarf(w, object);
        assert_string_equal(link_and_run(w, object), expected);
    }
}

static void test_split_keeps_what_is_said(void **state)
{
    struct workshop *w = *state;
    struct rh_module *m = open_text(spoken);
    struct rh_value *store = find_inst(m, "spoken", RH_OP_LOAD, NULL)->next;
    void *prefix;
    assert_ok(rh_rewrite_split_before(m, store, &prefix));
    assert_ok(rh_ir_verify(m));
    assert_ptr_equal(LLVMGetInstructionParent(store->handle), store->block->handle);
    assert_ptr_equal(LLVMGetFirstBasicBlock(store->fn->handle), prefix);
    assert_int_equal(line_of(LLVMGetBasicBlockTerminator(prefix)), 20);
    const char *text = print_function(w, m, "spoken");
    assert_order(text, "%room = alloca", "dbg_value(i32 1,", "%a = load", "dbg_value(i32 %a,",
                 "store i32 7", "dbg_value(!DIArgList", "store i64 3", "dbg_value(i32 3,",
                 "br i1 %c");
    assert_order(text, "%late = alloca", "br label %entry", "entry:");

    /* Once more behind it, where a list of values is said. */
    assert_ok(rh_rewrite_split_before(m, store->next->next, &prefix));
    assert_ok(rh_ir_verify(m));
    text = print_function(w, m, "spoken");
    assert_order(text, "dbg_value(i32 1,", "%a = load", "dbg_value(i32 %a,", "store i32 7",
                 "br label %entry", "entry:", "store i64 3", "dbg_value(i32 3,", "br i1 %c");
    assert_order(text, "phi i32 [ %a, %entry ], [ 5, %one ]", "dbg_value(i32 %x,", "ret");
    rh_ir_close(m);
}

enum split_order { FRONT_TO_BACK, BACK_TO_FRONT };

static bool opens_block(const struct rh_value *v)
{
    return v->op == RH_OP_PHI || v->op == RH_OP_LANDINGPAD;
}

/* Splits before every instruction of a module and checks that each is what it was. */
static void split_everywhere(struct workshop *w, struct rh_module *m, enum split_order order)
{
    struct inst_vec insts = RH_VEC_INIT;
    list_instructions(m, &insts);
    LLVMMetadataRef *locs = rh_arena_array(&w->arena, LLVMMetadataRef, insts.len);
    for (size_t i = 0; i < insts.len; i++)
        locs[i] = LLVMInstructionGetDebugLoc(insts.data[i]->handle);
    for (size_t i = 0; i < insts.len; i++) {
        struct rh_value *v = insts.data[order == FRONT_TO_BACK ? i : insts.len - 1 - i];
        void *prefix;
        if (opens_block(v))
            assert_int_equal(rh_rewrite_split_before(m, v, &prefix), RH_ERR_UNSUPPORTED);
        else
            assert_ok(rh_rewrite_split_before(m, v, &prefix));
    }
    assert_ok(rh_ir_verify(m));
    for (size_t i = 0; i < insts.len; i++) {
        struct rh_value *v = insts.data[i];
        assert_ptr_equal(LLVMInstructionGetDebugLoc(v->handle), locs[i]);
        size_t len;
        assert_string_equal(LLVMGetValueName2(v->handle, &len), v->name);
        if (v->op != RH_OP_ALLOCA && !opens_block(v))
            assert_ptr_equal(LLVMGetFirstInstruction(LLVMGetInstructionParent(v->handle)),
                             v->handle);
    }
    rh_vec_free(&insts);
}

static void test_split_shapes(void **state)
{
    struct workshop *w = *state;
    for (int order = FRONT_TO_BACK; order <= BACK_TO_FRONT; order++) {
        struct rh_module *m = open_text(shapes);
        split_everywhere(w, m, (enum split_order)order);
        assert_string_equal(link_and_run(w, generate(w, m, 2)), shapes_say);
    }
}

static void test_split_programs(void **state)
{
    struct workshop *w = *state;
    static const struct {
        const char *source, *opt;
        enum split_order order;
    } cases[] = {
        {TESTDATA("loops.c"), "-O2", FRONT_TO_BACK},
        {TESTDATA("loops.c"), "-O2", BACK_TO_FRONT},
        {TESTDATA("loops.c"), "-O0", FRONT_TO_BACK},
        {TESTDATA("unwind.cpp"), "-O2", FRONT_TO_BACK},
        {TESTDATA("unwind.cpp"), "-O0", FRONT_TO_BACK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *expected = compile_and_run(w, cases[i].source, cases[i].opt);
        struct rh_module *m = open_file(compile(w, cases[i].source, cases[i].opt));
        size_t said = count_said(print_module(w, m));
        split_everywhere(w, m, cases[i].order);
        assert_true(count_said(print_module(w, m)) >= said);
        const char *object = generate(w, m, 2);
        check_dwarf(w, object);
        assert_string_equal(link_and_run(w, object), expected);
    }
}

static void test_add_data(void **state)
{
    struct workshop *w = *state;
    const char *user = at(w, "user.c"), *object = at(w, "user.o"), *program = at(w, "program");
    static const char user_text[] =
        "#include <stdio.h>\n"
        "extern const char __start_notes[], __stop_notes[], shown[];\n"
        "void f(void) {}\n"
        "int main(void) {\n"
        "    fwrite(__start_notes, 1, __stop_notes - __start_notes, stdout);\n"
        "    printf(\" %s %d\\n\", shown, (int)((unsigned long)shown % 64));\n"
        "}\n";
    assert_ok(rh_fs_write(user, user_text, strlen(user_text), 0666));
    struct rh_module *m = open_text("target triple = \"x86_64-unknown-linux-gnu\"\n"
                                    "@taken = global i32 3\n"
                                    "@kept = internal global i32 4\n"
                                    "@llvm.compiler.used = appending global [1 x ptr] [ptr @kept]"
                                    ", section \"llvm.metadata\"\n");
    assert_int_equal(rh_rewrite_add_data(m, "taken", NULL, "x", 1, 1, true), RH_ERR_INPUT);
    assert_ok(rh_rewrite_add_data(m, "note", "notes", "one", 3, 1, false));
    assert_ok(rh_rewrite_add_data(m, "note", "notes", ",two", 4, 1, false));
    assert_ok(rh_rewrite_add_data(m, "shown", NULL, "text", 5, 64, true));
    assert_ok(rh_ir_verify(m));
    assert_order(print_module(w, m), "@llvm.compiler.used", "[ptr @kept, ptr @note, ptr @note");
    run(w, RH_CLANG, "-c", user, "-o", object);
    run(w, RH_CLANG, object, generate(w, m, 2), "-o", program);
    assert_string_equal(run(w, program), "one,two text 0\n");
}

#define TEST(body) cmocka_unit_test_setup_teardown(body, open_workshop, close_workshop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_insert_before),
        TEST(test_insert_after),
        TEST(test_odd_places),
        TEST(test_insert_everywhere),
        TEST(test_split_keeps_what_is_said),
        TEST(test_split_shapes),
        TEST(test_split_programs),
        TEST(test_add_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
