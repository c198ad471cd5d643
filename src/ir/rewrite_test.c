/* Tests of rewriting: inserted assembly, split blocks, copied loops, added data. */
#include "ir/rewrite_testing.h"

#include <llvm-c/DebugInfo.h>

#include "ir/cfg.h"

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

static unsigned line_of(LLVMValueRef inst)
{
    LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(inst);
    return loc ? LLVMDILocationGetLine(loc) : 0;
}

/* How often debug information says something about a variable, in either form. */
static size_t count_said(const char *text)
{
    return count_text(text, "#dbg_") + count_text(text, "call void @llvm.dbg.");
}

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
        {.handle = rh_rewrite_int(m, 32, 77)},
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
        struct rh_module *m = open_file(compile(w, sources[i], "-O2"), 0);
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

/* Shapes that make splitting hard: the block is its own successor, its address is taken, several
 * edges come from one place, it has phis, it is reached by assembly. */
static const char shapes[] =
    "target triple = \"x86_64-unknown-linux-gnu\"\n"
    "define i32 @self(i32 %n) {\n"
    "entry:\n"
    "  br label %loop\n"
    "loop:\n"
    "  %i = phi i32 [ 0, %entry ], [ %next, %loop ]\n"
    "  %s = phi i32 [ 1, %entry ], [ %sum, %loop ]\n"
    "  %sum = mul i32 %s, 3\n"
    "  %next = add i32 %i, 1\n"
    "  %more = icmp ult i32 %next, %n\n"
    "  br i1 %more, label %loop, label %done\n"
    "done:\n"
    "  %r = phi i32 [ %sum, %loop ]\n"
    "  %r2 = add i32 %r, 5\n"
    "  ret i32 %r2\n"
    "}\n"
    "@places = constant [2 x ptr] [ptr blockaddress(@jumps, %a), ptr blockaddress(@jumps, %b)]\n"
    "define i32 @jumps(i32 %n) {\n"
    "entry:\n"
    "  %at = getelementptr ptr, ptr @places, i32 %n\n"
    "  %to = load ptr, ptr %at\n"
    "  indirectbr ptr %to, [label %a, label %b]\n"
    "a:\n"
    "  %xa = add i32 %n, 10\n"
    "  br label %c\n"
    "b:\n"
    "  %xb = add i32 %n, 20\n"
    "  %yb = mul i32 %xb, 3\n"
    "  br label %c\n"
    "c:\n"
    "  %r = phi i32 [ %xa, %a ], [ %yb, %b ]\n"
    "  ret i32 %r\n"
    "}\n"
    "define i32 @switches(i32 %n) {\n"
    "entry:\n"
    "  %m = and i32 %n, 7\n"
    "  switch i32 %m, label %other [ i32 1, label %same i32 2, label %same i32 3, label %other ]\n"
    "same:\n"
    "  %x = phi i32 [ 4, %entry ], [ 4, %entry ]\n"
    "  %y = add i32 %x, %n\n"
    "  br label %other\n"
    "other:\n"
    "  %z = phi i32 [ 7, %entry ], [ 7, %entry ], [ %y, %same ]\n"
    "  ret i32 %z\n"
    "}\n"
    "define i32 @assembly(i32 %n) {\n"
    "entry:\n"
    "  callbr void asm sideeffect \"testl $0, $0; jz ${1:l}\", \"r,!i,~{flags}\"(i32 %n)\n"
    "    to label %straight [label %jumped]\n"
    "straight:\n"
    "  %x = add i32 %n, 1\n"
    "  ret i32 %x\n"
    "jumped:\n"
    "  %y = sub i32 0, 9\n"
    "  %z = add i32 %y, %n\n"
    "  ret i32 %z\n"
    "}\n"
    "@format = constant [8 x i8] c\"%d %d;\\0A\\00\"\n"
    "declare i32 @printf(ptr, ...)\n"
    "define void @say(i32 %a, i32 %b) {\n"
    "  %r = call i32 (ptr, ...) @printf(ptr @format, i32 %a, i32 %b)\n"
    "  ret void\n"
    "}\n"
    "define i32 @main() {\n"
    "  %a = call i32 @self(i32 5)\n"
    "  %b = call i32 @self(i32 0)\n"
    "  call void @say(i32 %a, i32 %b)\n"
    "  %c = call i32 @jumps(i32 0)\n"
    "  %d = call i32 @jumps(i32 1)\n"
    "  call void @say(i32 %c, i32 %d)\n"
    "  %e = call i32 @switches(i32 2)\n"
    "  %f = call i32 @switches(i32 3)\n"
    "  call void @say(i32 %e, i32 %f)\n"
    "  %g = call i32 @assembly(i32 0)\n"
    "  %h = call i32 @assembly(i32 4)\n"
    "  call void @say(i32 %g, i32 %h)\n"
    "  ret i32 0\n"
    "}\n";

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
        assert_string_equal(link_and_run(w, generate(w, m, 2)), "248 8;\n10 63;\n6 7;\n-9 5;\n");
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
        struct rh_module *m = open_file(compile(w, cases[i].source, cases[i].opt), 0);
        size_t said = count_said(print_module(w, m));
        split_everywhere(w, m, cases[i].order);
        assert_true(count_said(print_module(w, m)) >= said);
        const char *object = generate(w, m, 2);
        check_dwarf(w, object);
        assert_string_equal(link_and_run(w, object), expected);
    }
}

/* Counts entries to a copy, so that a test knows that copies ran. */
static void count_copy(struct rh_module *m, const struct rh_loop *loop,
                       const struct rh_loop_copy *copy)
{
    struct rh_value *v = loop->header->first;
    while (v->op == RH_OP_PHI)
        v = v->next;
    assert_non_null(rh_loop_copy_of(copy, v));
    assert_ptr_not_equal(rh_loop_copy_of(copy, v), v->handle);
    assert_ok(rh_rewrite_insert_asm(m, rh_loop_copy_of(copy, v), false, "incq copy_entries(%rip)",
                                    "~{flags},~{memory}", NULL, 0));
}

struct copy_counts {
    unsigned copied, refused;
};

static void copy_loops_of(struct rh_module *m, struct rh_function *f, const char *text,
                          struct copy_counts *counts)
{
    struct rh_cfg *cfg = rh_cfg_build(f);
    for (uint32_t i = 0; i < cfg->loop_count; i++) {
        struct rh_loop *loop = &cfg->loops[i];
        struct rh_loop_copy copy;
        enum rh_status status = rh_rewrite_copy_loop(m, loop, text, "!i", &copy);
        if (status == RH_ERR_UNSUPPORTED) {
            counts->refused += loop->innermost;
            continue;
        }
        assert_ok(status);
        assert_true(loop->innermost);
        counts->copied++;
        count_copy(m, loop, &copy);
        rh_loop_copy_release(&copy);
    }
    rh_cfg_free(cfg);
}

static struct copy_counts copy_all(struct rh_module *m, const char *text)
{
    struct copy_counts counts = {0, 0};
    for (uint32_t i = 0; i < rh_ir_function_count(m); i++) {
        if (rh_ir_function(m, i)->block_count)
            copy_loops_of(m, rh_ir_function(m, i), text, &counts);
    }
    assert_ok(rh_ir_verify(m));
    return counts;
}

/* Cuts off the program's last line, which holds the number of entries to copies; gives that. */
static unsigned long cut_entries(const char *output, struct rh_strbuf *rest)
{
    const char *last = strstr(output, "copies ");
    assert_non_null(last);
    rh_strbuf_reset(rest);
    rh_strbuf_addn(rest, output, (size_t)(last - output));
    return strtoul(last + strlen("copies "), NULL, 10);
}

/* Copies all loops of a program and compares what it prints with what it printed before. */
static void compare_copied(struct workshop *w, const char *source, const char *opt, bool always,
                           unsigned least_copied, unsigned most_refused)
{
    struct rh_strbuf expected = RH_STRBUF_INIT, actual = RH_STRBUF_INIT;
    assert_int_equal(cut_entries(compile_and_run(w, source, opt), &expected), 0);
    struct rh_module *m = open_file(compile(w, source, opt), RH_IR_PREPARE_LOOPS);
    struct copy_counts counts = copy_all(m, always ? "jmp ${0:l}" : "nop");
    assert_true(counts.copied >= least_copied);
    assert_true(counts.refused <= most_refused);
    const char *object = generate(w, m, 2);
    check_dwarf(w, object);
    unsigned long entries = cut_entries(link_and_run(w, object), &actual);
    assert_string_equal(rh_strbuf_text(&actual), rh_strbuf_text(&expected));
    assert_int_equal(entries != 0, always);
    rh_strbuf_release(&expected);
    rh_strbuf_release(&actual);
}

static void test_copied_loops_compute_the_same(void **state)
{
    static const struct {
        const char *source, *opt;
        bool always;
        unsigned least_copied, most_refused;
    } cases[] = {
        /* Only the loop of the computed goto is refused. */
        {TESTDATA("loops.c"), "-O0", true, 25, 1},
        {TESTDATA("loops.c"), "-O1", false, 25, 1},
        {TESTDATA("loops.c"), "-O1", true, 25, 1},
        {TESTDATA("loops.c"), "-O2", false, 25, 1},
        {TESTDATA("loops.c"), "-O2", true, 25, 1},
        {TESTDATA("loops.c"), "-O3", true, 25, 1},
        /* Nearly all loops here handle exceptions. */
        {TESTDATA("unwind.cpp"), "-O1", true, 1, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        compare_copied(*state, cases[i].source, cases[i].opt, cases[i].always,
                       cases[i].least_copied, cases[i].most_refused);
}

/* Splitting first leaves blocks in the loop that the snapshot does not know. */
static void test_copy_after_split(void **state)
{
    struct workshop *w = *state;
    struct rh_strbuf expected = RH_STRBUF_INIT, actual = RH_STRBUF_INIT;
    cut_entries(compile_and_run(w, TESTDATA("loops.c"), "-O1"), &expected);
    const char *bitcode = compile(w, TESTDATA("loops.c"), "-O1");
    struct rh_module *m = open_file(bitcode, RH_IR_PREPARE_LOOPS);
    split_everywhere(w, m, FRONT_TO_BACK);
    insert_everywhere(m);
    struct copy_counts counts = copy_all(m, "jmp ${0:l}");
    assert_true(counts.copied >= 25);
    const char *object = generate(w, m, 2);
    check_dwarf(w, object);
    unsigned long entries = cut_entries(link_and_run(w, object), &actual);
    assert_string_equal(rh_strbuf_text(&actual), rh_strbuf_text(&expected));
    assert_true(entries > 1000);
    rh_strbuf_release(&expected);
    rh_strbuf_release(&actual);
}

/* A loop around a body that may leave it, with something said about its counter. */
static struct rh_module *open_loop(struct workshop *w, const char *body, const char *behind)
{
    const char *text = rh_arena_printf(
        &w->arena,
        "declare void @callee()\n"
        "declare token @llvm.coro.id(i32, ptr, ptr, ptr)\n"
        "declare i32 @__gxx_personality_v0(...)\n"
        "define i32 @f(ptr %%p, i32 %%n) personality ptr @__gxx_personality_v0 !dbg !3 {\n"
        "entry:\n"
        "  br label %%loop, !dbg !8\n"
        "loop:\n"
        "  %%i = phi i32 [ 0, %%entry ], [ %%next, %%latch ]\n"
        "  #dbg_value(i32 %%i, !6, !DIExpression(), !7)\n"
        "  %%next = add i32 %%i, 1, !dbg !7\n"
        "  #dbg_value(!DIArgList(i32 %%i, i32 %%n), !6, !DIExpression(DW_OP_LLVM_arg, 0,"
        " DW_OP_LLVM_arg, 1, DW_OP_plus, DW_OP_stack_value), !7)\n"
        "  %%more = icmp ult i32 %%next, %%n\n"
        "  %s\n"
        "latch:\n"
        "  #dbg_value(i32 4, !6, !DIExpression(), !7)\n"
        "  br i1 %%more, label %%loop, label %%done, !llvm.loop !9\n"
        "done:\n"
        "  %%r = phi i32 [ %%next, %%latch ]\n"
        "  %s\n"
        "  ret i32 %%r\n"
        "aside:\n"
        "  ret i32 1\n"
        "pad:\n"
        "  %%lp = landingpad { ptr, i32 } cleanup\n"
        "  resume { ptr, i32 } %%lp\n"
        "}\n"
        "!llvm.dbg.cu = !{!0}\n"
        "!llvm.module.flags = !{!2}\n"
        "!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)\n"
        "!1 = !DIFile(filename: \"loop.c\", directory: \"/src\")\n"
        "!2 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
        "!3 = distinct !DISubprogram(name: \"f\", file: !1, line: 1, type: !4, unit: !0,"
        " spFlags: DISPFlagDefinition)\n"
        "!4 = !DISubroutineType(types: !{})\n"
        "!5 = !DIBasicType(name: \"int\", size: 32, encoding: DW_ATE_signed)\n"
        "!6 = !DILocalVariable(name: \"v\", scope: !3, file: !1, line: 2, type: !5)\n"
        "!7 = !DILocation(line: 2, scope: !3)\n"
        "!8 = !DILocation(line: 5, scope: !3)\n"
        "!9 = distinct !{!9}\n",
        body, behind);
    return open_text(text);
}

static const struct {
    const char *body, *behind;
    enum rh_status status;
} bodies[] = {
    {"br label %latch", "", RH_OK},
    {"call void @callee()\n br label %latch", "", RH_OK},
    {"call void asm sideeffect \"1: jmp 1b; 2: mov %fs:0, %rax\", \"\"()\n br label %latch", "",
     RH_OK},
    {"br i1 %more, label %latch, label %aside", "", RH_OK},
    {"call void @callee() noduplicate\n br label %latch", "", RH_ERR_UNSUPPORTED},
    {"call void @callee() convergent\n br label %latch", "", RH_ERR_UNSUPPORTED},
    {"call void asm sideeffect \"nop; mine: nop\", \"\"()\n br label %latch", "",
     RH_ERR_UNSUPPORTED},
    {"%t = call token @llvm.coro.id(i32 0, ptr null, ptr null, ptr null)\n br label %latch", "",
     RH_ERR_UNSUPPORTED},
    {"indirectbr ptr %p, [label %latch, label %aside]", "", RH_ERR_UNSUPPORTED},
    {"callbr void asm \"\", \"!i\"() to label %latch [label %aside]", "", RH_ERR_UNSUPPORTED},
    {"invoke void @callee() to label %latch unwind label %pad", "", RH_ERR_UNSUPPORTED},
    {"br label %latch", "%direct = add i32 %i, 1", RH_ERR_UNSUPPORTED},
};

static void test_unfit_loops_are_left_alone(void **state)
{
    struct workshop *w = *state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct rh_module *m = open_loop(w, bodies[i].body, bodies[i].behind);
        const char *before = print_module(w, m);
        struct rh_cfg *cfg = rh_cfg_build(rh_ir_find_function(m, "f"));
        assert_int_equal(cfg->loop_count, 1);
        struct rh_loop_copy copy = {.copies = RH_MAP_INIT};
        enum rh_status status = rh_rewrite_copy_loop(m, &cfg->loops[0], "nop", "!i", &copy);
        if (status != bodies[i].status)
            fail_msg("%s: %s", bodies[i].body, rh_error_text());
        rh_loop_copy_release(&copy);
        assert_ok(rh_ir_verify(m));
        bool same = strcmp(before, print_module(w, m)) == 0;
        assert_int_equal(same, bodies[i].status != RH_OK);
        rh_cfg_free(cfg);
        rh_ir_close(m);
    }
}

static void test_copy_in_detail(void **state)
{
    struct workshop *w = *state;
    struct rh_module *m = open_loop(w, "br label %latch", "");
    struct rh_function *f = rh_ir_find_function(m, "f");
    struct rh_cfg *cfg = rh_cfg_build(f);
    struct rh_loop *loop = &cfg->loops[0];
    LLVMValueRef branch = loop->preheader->last->handle;
    struct rh_loop_copy copy;
    assert_ok(rh_rewrite_copy_loop(m, loop, "# ${0:l}", "!i", &copy));
    assert_ok(rh_ir_verify(m));

    /* The branch that the snapshot names lives on, between the choice and the original. */
    LLVMBasicBlockRef way_in = LLVMGetInstructionParent(branch);
    LLVMValueRef choice = LLVMGetBasicBlockTerminator(loop->preheader->handle);
    assert_int_equal(LLVMGetInstructionOpcode(choice), LLVMCallBr);
    assert_ptr_equal(LLVMGetSuccessor(choice, 0), way_in);
    assert_ptr_equal(LLVMGetSuccessor(branch, 0), loop->header->handle);
    assert_int_equal(line_of(choice), 5);
    assert_int_equal(line_of(branch), 5);

    struct rh_value *next = find_inst(m, "f", RH_OP_ADD, "next");
    LLVMValueRef counter = rh_loop_copy_of(&copy, loop->header->first);
    assert_non_null(LLVMIsAPHINode(counter));
    assert_ptr_equal(LLVMGetOperand(rh_loop_copy_of(&copy, next), 0), counter);
    assert_int_equal(line_of(rh_loop_copy_of(&copy, next)), 2);
    assert_null(rh_loop_copy_of(&copy, f->args[0]));
    LLVMValueRef result = LLVMGetFirstInstruction(loop->exits[0]->handle);
    assert_int_equal(LLVMCountIncoming(result), 2);
    assert_ptr_equal(LLVMGetIncomingValue(result, 1), rh_loop_copy_of(&copy, next));

    /* What is said is said of the copy's values; the list of values is lost. */
    LLVMSetValueName2(counter, "twin", 4);
    const char *text = print_function(w, m, "f");
    assert_order(text, "loop:", "dbg_value(i32 %i,", "dbg_value(!DIArgList", "dbg_value(i32 4,",
                 "done:", "%twin = phi", "dbg_value(i32 %twin,", "dbg_value(i1 poison,",
                 "dbg_value(i32 4,");
    assert_int_equal(count_said(text), 6);
    assert_int_equal(count_text(text, "!llvm.loop"), 1);
    rh_loop_copy_release(&copy);
    rh_cfg_free(cfg);
    rh_ir_close(m);
}

static void test_add_data(void **state)
{
    struct workshop *w = *state;
    const char *user = at(w, "user.c"), *object = at(w, "user.o"), *program = at(w, "program");
    static const char user_text[] =
        "#include <stdio.h>\n"
        "extern const char __start_notes[], __stop_notes[], shown[];\n"
        "extern int from_assembly;\n"
        "void f(void) {}\n"
        "int main(void) {\n"
        "    fwrite(__start_notes, 1, __stop_notes - __start_notes, stdout);\n"
        "    printf(\" %s %d %d\\n\", shown, from_assembly, (int)((unsigned long)shown % 64));\n"
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
    rh_rewrite_add_module_asm(m, ".data; .globl from_assembly; from_assembly: .long 42");
    rh_rewrite_add_module_asm(m, ".text");
    assert_ok(rh_ir_verify(m));
    assert_order(print_module(w, m), "@llvm.compiler.used", "[ptr @kept, ptr @note, ptr @note");
    run(w, RH_CLANG, "-c", user, "-o", object);
    run(w, RH_CLANG, object, generate(w, m, 2), "-o", program);
    assert_string_equal(run(w, program), "one,two text 42 0\n");
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
        TEST(test_copied_loops_compute_the_same),
        TEST(test_copy_after_split),
        TEST(test_unfit_loops_are_left_alone),
        TEST(test_copy_in_detail),
        TEST(test_add_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
