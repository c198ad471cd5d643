/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of twins: the second body computes the same, wherever a run changes to it. */
#include "ir/rewrite/rewrite_testing.h"
#include "ir/testing_shapes.h"

#include "ir/graph/cfg.h"

/* What the gates of a test do. */
static const char never[] = "nop # ${0:l}";
static const char always[] = "jmp ${0:l}";
#define EVERY(n)                                                                                   \
    "decl gate_countdown(%rip)\n\tjg 1f\n\tmovl $$" #n ", gate_countdown(%rip)\n\tjmp ${0:l}\n1:"

#define GATE_CONSTRAINTS "!i,~{flags},~{memory}"

enum gates { AT_ENTRY, AT_HEADERS, AT_ENTRY_AND_HEADERS, IN_ALL_BLOCKS };

struct block_vec RH_VEC_BODY(struct rh_block *);

static void choose_gates(struct rh_function *f, enum gates gates, struct block_vec *out)
{
    struct rh_cfg *cfg = rh_cfg_build(f);
    if (gates == AT_ENTRY || gates == AT_ENTRY_AND_HEADERS)
        rh_vec_push(out, f->blocks[0]);
    for (uint32_t l = 0; l < cfg->loop_count && gates != AT_ENTRY && gates != IN_ALL_BLOCKS; l++)
        rh_vec_push(out, cfg->loops[l].header);
    for (uint32_t b = 0; b < f->block_count && gates == IN_ALL_BLOCKS; b++)
        if (rh_cfg_reachable(cfg, f->blocks[b]))
            rh_vec_push(out, f->blocks[b]);
    rh_cfg_free(cfg);
}

/* Counts at each access of the twin, with its address as an operand, as keys do. */
static void visit_accesses(struct rh_module *m, struct rh_function *f, const struct rh_twin *twin)
{
    for (uint32_t b = 0; b < f->block_count; b++) {
        for (struct rh_value *v = f->blocks[b]->first; v; v = v->next) {
            struct rh_value *pointer = rh_ir_pointer(v);
            void *copy = rh_twin_of(twin, v);
            if (!pointer || !copy)
                continue;
            assert_ptr_not_equal(copy, v->handle);
            struct rh_asm_operand operand = {
                .value = pointer, .handle = rh_twin_of(twin, pointer), .is_memory = true};
            assert_ok(rh_rewrite_insert_asm(m, copy, false, "incq twin_visits(%rip) # $0",
                                            "*m,~{flags},~{memory}", &operand, 1));
        }
    }
}

struct twin_counts {
    unsigned made, refused, bypassed;
};

/* The blocks in the twin of each innermost loop, one after the other; lengths[l] of them. */
struct twin_loops {
    RH_VEC(void *) blocks;
    RH_VEC(uint32_t) lengths;
};

static void find_loops(struct rh_function *f, const struct rh_twin *twin, struct twin_loops *out)
{
    struct rh_cfg *cfg = rh_cfg_build(f);
    for (uint32_t l = 0; l < cfg->loop_count; l++) {
        const struct rh_loop *loop = &cfg->loops[l];
        if (!loop->innermost || !rh_twin_of_block(twin, loop->header))
            continue;
        rh_vec_push(&out->blocks, rh_twin_of_block(twin, loop->header));
        for (uint32_t b = 0; b < loop->block_count; b++)
            if (loop->blocks[b] != loop->header)
                rh_vec_push(&out->blocks, rh_twin_of_block(twin, loop->blocks[b]));
        rh_vec_push(&out->lengths, loop->block_count);
    }
    rh_cfg_free(cfg);
}

static unsigned bypass_loops(struct rh_module *m, struct twin_loops *loops, const char *text)
{
    unsigned made = 0;
    void *const *blocks = loops->blocks.data;
    rh_vec_each (uint32_t, count, &loops->lengths) {
        enum rh_status status = rh_rewrite_bypass(m, blocks, *count, text, GATE_CONSTRAINTS);
        if (status != RH_ERR_UNSUPPORTED)
            assert_ok(status);
        made += status == RH_OK;
        blocks += *count;
    }
    rh_vec_free(&loops->blocks);
    rh_vec_free(&loops->lengths);
    return made;
}

static void give_twin(struct rh_module *m, struct rh_function *f, enum gates gates,
                      const char *text, struct twin_counts *counts)
{
    struct block_vec blocks = RH_VEC_INIT;
    struct rh_twin *twin;
    struct twin_loops loops = {0};
    choose_gates(f, gates, &blocks);
    enum rh_status status = rh_rewrite_twin_begin(m, f, blocks.data, (uint32_t)blocks.len, text,
                                                  GATE_CONSTRAINTS, &twin);
    if (status == RH_ERR_UNSUPPORTED) {
        assert_null(twin);
        counts->refused++;
    } else {
        assert_ok(status);
        counts->made++;
        visit_accesses(m, f, twin);
        find_loops(f, twin, &loops);
        rh_rewrite_twin_finish(twin);
        counts->bypassed += bypass_loops(m, &loops, text);
    }
    rh_vec_free(&blocks);
}

static struct twin_counts twin_all(struct rh_module *m, enum gates gates, const char *text)
{
    struct twin_counts counts = {0, 0, 0};
    for (uint32_t i = 0; i < rh_ir_function_count(m); i++)
        if (rh_ir_function(m, i)->block_count)
            give_twin(m, rh_ir_function(m, i), gates, text, &counts);
    assert_ok(rh_ir_verify(m));
    return counts;
}

/* Cuts off the program's last line, which holds the number of accesses in twins; gives that. */
static unsigned long cut_visits(const char *output, struct rh_strbuf *rest)
{
    const char *last = strstr(output, "visits ");
    assert_non_null(last);
    rh_strbuf_reset(rest);
    rh_strbuf_addn(rest, output, (size_t)(last - output));
    return strtoul(last + strlen("visits "), NULL, 10);
}

static const struct way {
    enum gates gates;
    const char *text;
} ways[] = {
    {AT_ENTRY_AND_HEADERS, never},    {AT_ENTRY, always},        {AT_HEADERS, EVERY(40)},
    {AT_ENTRY_AND_HEADERS, EVERY(3)}, {IN_ALL_BLOCKS, EVERY(2)}, {IN_ALL_BLOCKS, EVERY(17)},
};

/* Gives all functions of a program a twin and compares what it prints with what it printed before.
 */
static void compare_twinned(struct workshop *w, const char *bitcode, const struct way *way,
                            unsigned level, const char *expected)
{
    struct rh_strbuf actual = RH_STRBUF_INIT;
    struct rh_module *m = open_file(bitcode);
    struct twin_counts counts = twin_all(m, way->gates, way->text);
    assert_true(counts.made >= 5);
    assert_true(counts.refused <= 2); /* setjmp and a computed goto */
    assert_true(counts.bypassed >= 1 || way->gates == IN_ALL_BLOCKS);
    const char *object = generate(w, m, level);
    check_dwarf(w, object);
    unsigned long visits = cut_visits(link_and_run(w, object), &actual);
    assert_string_equal(rh_strbuf_text(&actual), expected);
    assert_int_equal(visits != 0, way->text != never);
    rh_strbuf_release(&actual);
}

static void test_twins_compute_the_same(void **state)
{
    static const char *const opts[] = {"-O0", "-O1", "-O2", "-O3"};
    static const char *const sources[] = {TESTDATA("loops.c"), TESTDATA("unwind.cpp")};
    struct workshop *w = *state;
    for (size_t i = 0; i < 8; i++) {
        const char *opt = opts[i / 2], *source = sources[i % 2];
        struct rh_strbuf expected = RH_STRBUF_INIT;
        assert_int_equal(cut_visits(compile_and_run(w, source, opt), &expected), 0);
        const char *bitcode = compile(w, source, opt);
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
            compare_twinned(w, bitcode, &ways[k], i / 2 ? 2 : 0, rh_strbuf_text(&expected));
        rh_strbuf_release(&expected);
    }
}

static void test_twins_of_odd_shapes(void **state)
{
    struct workshop *w = *state;
    static const char *const texts[] = {never, always, EVERY(2), EVERY(3)};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct rh_module *m = open_text(shapes);
        struct twin_counts counts = twin_all(m, IN_ALL_BLOCKS, texts[i]);
        assert_int_equal(counts.refused, 2); /* the indirect jump, and assembly that jumps */
        assert_string_equal(link_and_run(w, generate(w, m, 2)), shapes_say);
    }
}

/* A loop around a body that may leave it, with something said about its counter. */
static struct rh_module *open_loop(struct workshop *w, const char *body)
{
    const char *text = rh_arena_printf(
        &w->arena,
        "declare void @callee()\n"
        "declare i32 @setjmp(ptr) returns_twice\n"
        "declare i32 @target(ptr, i32)\n"
        "declare void @llvm.localescape(...)\n"
        "declare token @llvm.coro.id(i32, ptr, ptr, ptr)\n"
        "declare i32 @__gxx_personality_v0(...)\n"
        "define i32 @f(ptr %%p, i32 %%n) personality ptr @__gxx_personality_v0 !dbg !3 {\n"
        "entry:\n"
        "  %%room = alloca i32\n"
        "  %%start = load i32, ptr %%p, !dbg !8\n"
        "  br label %%loop, !dbg !8\n"
        "loop:\n"
        "  %%i = phi i32 [ %%start, %%entry ], [ %%next, %%latch ], !dbg !8\n"
        "  #dbg_value(i32 %%i, !6, !DIExpression(), !7)\n"
        "  %%next = add i32 %%i, 1, !dbg !7\n"
        "  #dbg_value(!DIArgList(i32 %%i, i32 %%n), !6, !DIExpression(DW_OP_LLVM_arg, 0,"
        " DW_OP_LLVM_arg, 1, DW_OP_plus, DW_OP_stack_value), !7)\n"
        "  %%more = icmp ult i32 %%next, %%n\n"
        "  %s\n"
        "latch:\n"
        "  #dbg_value(i32 %%start, !6, !DIExpression(), !7)\n"
        "  br i1 %%more, label %%loop, label %%done, !llvm.loop !9\n"
        "done:\n"
        "  %%r = phi i32 [ %%next, %%latch ]\n"
        "  store i32 %%r, ptr %%room\n"
        "  %%direct = add i32 %%start, %%i\n"
        "  %%result = add i32 %%direct, %%r\n"
        "  ret i32 %%result\n"
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
        body);
    return open_text(text);
}

static const struct {
    const char *body;
    enum rh_status status;
} bodies[] = {
    {"br label %latch", RH_OK},
    {"call void @callee()\n br label %latch", RH_OK},
    {"call void asm sideeffect \"1: jmp 1b; 2: mov %fs:0, %rax\", \"\"()\n br label %latch", RH_OK},
    {"br i1 %more, label %latch, label %aside", RH_OK},
    {"switch i32 %i, label %latch [ i32 3, label %aside i32 5, label %aside ]", RH_OK},
    {"invoke void @callee() to label %latch unwind label %pad", RH_OK},
    {"%v = alloca i32, i32 %n\n store i32 1, ptr %v\n br label %latch", RH_OK},
    {"br i1 %more, label %latch, label %last\n"
     "last:\n %x = musttail call i32 @target(ptr %p, i32 %i)\n ret i32 %x",
     RH_OK},
    {"call void @callee() noduplicate\n br label %latch", RH_ERR_UNSUPPORTED},
    {"call void @callee() convergent\n br label %latch", RH_ERR_UNSUPPORTED},
    {"%s = call i32 @setjmp(ptr %p)\n br label %latch", RH_ERR_UNSUPPORTED},
    {"call void asm sideeffect \"nop; mine: nop\", \"\"()\n br label %latch", RH_ERR_UNSUPPORTED},
    {"%t = call token @llvm.coro.id(i32 0, ptr null, ptr null, ptr null)\n br label %latch",
     RH_ERR_UNSUPPORTED},
    {"indirectbr ptr %p, [label %latch, label %aside]", RH_ERR_UNSUPPORTED},
    {"store ptr blockaddress(@f, %latch), ptr %p\n br label %latch", RH_ERR_UNSUPPORTED},
    {"callbr void asm \"\", \"!i\"() to label %latch [label %aside]", RH_ERR_UNSUPPORTED},
};

static void test_unfit_functions_are_left_alone(void **state)
{
    struct workshop *w = *state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct rh_module *m = open_loop(w, bodies[i].body);
        struct rh_function *f = rh_ir_find_function(m, "f");
        const char *before = print_module(w, m);
        struct rh_twin *twin;
        enum rh_status status = rh_rewrite_twin_begin(
            m, f, (struct rh_block *[]){f->blocks[0], f->blocks[1]}, 2, "nop", "!i", &twin);
        if (status != bodies[i].status)
            fail_msg("%s: %s", bodies[i].body, rh_error_text());
        if (twin)
            rh_rewrite_twin_finish(twin);
        assert_ok(rh_ir_verify(m));
        bool same = strcmp(before, print_module(w, m)) == 0;
        assert_int_equal(same, bodies[i].status != RH_OK);
        rh_ir_close(m);
    }
}

/* Only the loop has a gate: what is before it is not copied. */
static void test_gate_in_detail(void **state)
{
    struct workshop *w = *state;
    struct rh_module *m = open_loop(w, "br label %latch");
    struct rh_function *f = rh_ir_find_function(m, "f");
    struct rh_value *counter = f->blocks[1]->first, *next = counter->next;
    struct rh_value *start = find_inst(m, "f", RH_OP_LOAD, "start");
    struct rh_twin *twin;
    assert_ok(rh_rewrite_twin_begin(m, f, &f->blocks[1], 1, "# ${0:l}", "!i", &twin));
    LLVMValueRef phi = rh_twin_of(twin, counter), sum = rh_twin_of(twin, next);
    assert_null(rh_twin_of(twin, start));
    assert_null(rh_twin_of(twin, f->args[0]));
    assert_null(rh_twin_of(twin, find_inst(m, "f", RH_OP_ALLOCA, NULL)));
    rh_rewrite_twin_finish(twin);
    assert_ok(rh_ir_verify(m));

    /* The gate stands between the phis and the rest, and its edge brings the counter. */
    LLVMBasicBlockRef prefix = LLVMGetInstructionParent(counter->handle);
    LLVMValueRef gate = LLVMGetBasicBlockTerminator(prefix);
    assert_int_equal(LLVMGetInstructionOpcode(gate), LLVMCallBr);
    assert_ptr_equal(LLVMGetSuccessor(gate, 0), LLVMGetInstructionParent(next->handle));
    assert_int_equal(line_of(gate), 2);
    assert_ptr_equal(LLVMGetOperand(sum, 0), phi);
    assert_int_equal(line_of(sum), 2);
    assert_int_equal(LLVMCountIncoming(phi), 2);
    assert_ptr_equal(LLVMGetIncomingValue(phi, 0), sum);
    assert_ptr_equal(LLVMGetIncomingValue(phi, 1), counter->handle);
    assert_ptr_equal(LLVMGetIncomingBlock(phi, 1), LLVMGetSuccessor(gate, 1));

    /* What is said is said of the twin's values; the list of values is lost. */
    LLVMSetValueName2(phi, "twin", 4);
    const char *text = print_function(w, m, "f");
    assert_order(text, "entry:", "loop:", "dbg_value(!DIArgList", "dbg_value(i32 %start,",
                 "done:", "%twin = phi", "dbg_value(i32 %twin,", "dbg_value(i1 poison,",
                 "dbg_value(i32 %start,");
    assert_int_equal(count_said(text), 6);
    assert_int_equal(count_text(text, "!llvm.loop"), 1);
    rh_ir_close(m);
}

/* With a gate at the entry too, the value before the loop has a copy, which meets the original. */
static void test_values_meet_behind_a_gate(void **state)
{
    struct workshop *w = *state;
    struct rh_module *m = open_loop(w, "br label %latch");
    struct rh_function *f = rh_ir_find_function(m, "f");
    struct rh_value *start = find_inst(m, "f", RH_OP_LOAD, "start");
    struct rh_value *direct = find_inst(m, "f", RH_OP_ADD, "direct");
    struct rh_twin *twin;
    assert_ok(rh_rewrite_twin_begin(m, f, f->blocks, 2, "# ${0:l}", "!i", &twin));
    LLVMValueRef copy = rh_twin_of(twin, start), user = rh_twin_of(twin, direct);
    assert_ptr_equal(LLVMGetOperand(user, 0), copy);
    rh_rewrite_twin_finish(twin);
    assert_ok(rh_ir_verify(m));
    LLVMValueRef joined = LLVMGetOperand(user, 0);
    assert_non_null(LLVMIsAPHINode(joined));
    assert_int_equal(LLVMCountIncoming(joined), 3);
    bool has_original = false, has_copy = false;
    for (unsigned i = 0; i < 3; i++) {
        has_original |= LLVMGetIncomingValue(joined, i) == start->handle;
        has_copy |= LLVMGetIncomingValue(joined, i) == copy;
    }
    assert_true(has_original && has_copy);
    LLVMSetValueName2(joined, "joined", 6);
    assert_order(print_function(w, m, "f"), "%joined = phi", "dbg_value(i32 %joined,");
    rh_ir_close(m);
}

/* The copy of a loop keeps the lines of the loop, and says the same of its own values. */
static void test_bypass_in_detail(void **state)
{
    struct workshop *w = *state;
    struct rh_module *m = open_loop(w, "br label %latch");
    struct rh_function *f = rh_ir_find_function(m, "f");
    struct twin_loops loops = {0};
    struct rh_twin *twin;
    assert_ok(rh_rewrite_twin_begin(m, f, &f->blocks[1], 1, "# ${0:l}", "!i", &twin));
    find_loops(f, twin, &loops);
    rh_rewrite_twin_finish(twin);
    assert_int_equal(bypass_loops(m, &loops, "# ${0:l}"), 1);
    assert_ok(rh_ir_verify(m));

    unsigned sums = 0;
    LLVMBasicBlockRef loop = NULL;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->value->handle); b;
         b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef it = LLVMGetFirstInstruction(b); it; it = LLVMGetNextInstruction(it)) {
            if (LLVMGetInstructionOpcode(it) != LLVMAdd ||
                !LLVMIsAConstantInt(LLVMGetOperand(it, 1)))
                continue;
            assert_int_equal(line_of(it), 2);
            sums++;
            loop = b;
        }
    }
    assert_int_equal(sums, 3);
    LLVMSetValueName2(LLVMGetFirstInstruction(loop), "passing", 7);
    const char *text = print_function(w, m, "f");
    assert_order(text, "%passing = phi", "dbg_value(i32 %passing,", "dbg_value(i1 poison,",
                 "dbg_value(i32 %start,");
    assert_int_equal(count_said(text), 9);
    rh_ir_close(m);
}

#define TEST(body) cmocka_unit_test_setup_teardown(body, open_workshop, close_workshop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_twins_compute_the_same),         TEST(test_twins_of_odd_shapes),
        TEST(test_unfit_functions_are_left_alone), TEST(test_gate_in_detail),
        TEST(test_values_meet_behind_a_gate),      TEST(test_bypass_in_detail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
