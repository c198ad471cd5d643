/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of values in the snapshot: every operation, memory orders, jumps, calls, constants,
 * getelementptr, and ids.
 */
#include "ir/ir.h"

#include <limits.h>
#include <stdbool.h>

#include "ir/testing.h"

/* Every operation at least once; the name of a value is that of its operation. */
static const char all_ops[] =
    "declare i32 @personality(...)\n"
    "declare i32 @external(i32)\n"
    "@place = global ptr blockaddress(@jumps, %one)\n"
    "define i32 @arithmetic(i32 %a, i32 %b, float %x, float %y) {\n"
    "  %add = add i32 %a, %b\n"
    "  %sub = sub i32 %add, %b\n"
    "  %mul = mul i32 %sub, %b\n"
    "  %udiv = udiv i32 %mul, %b\n"
    "  %sdiv = sdiv i32 %udiv, %b\n"
    "  %urem = urem i32 %sdiv, %b\n"
    "  %srem = srem i32 %urem, %b\n"
    "  %shl = shl i32 %srem, %b\n"
    "  %lshr = lshr i32 %shl, %b\n"
    "  %ashr = ashr i32 %lshr, %b\n"
    "  %and = and i32 %ashr, %b\n"
    "  %or = or i32 %and, %b\n"
    "  %xor = xor i32 %or, %b\n"
    "  %fneg = fneg float %x\n"
    "  %fadd = fadd float %fneg, %y\n"
    "  %fsub = fsub float %fadd, %y\n"
    "  %fmul = fmul float %fsub, %y\n"
    "  %fdiv = fdiv float %fmul, %y\n"
    "  %frem = frem float %fdiv, %y\n"
    "  %icmp = icmp ult i32 %xor, %b\n"
    "  %fcmp = fcmp olt float %frem, %y\n"
    "  %select = select i1 %icmp, i32 %a, i32 %b\n"
    "  %freeze = freeze i32 %select\n"
    "  ret i32 %freeze\n"
    "}\n"
    "define void @casts(i64 %i, float %x, double %d, ptr %p, ptr addrspace(1) %q) {\n"
    "  %trunc = trunc i64 %i to i32\n"
    "  %zext = zext i32 %trunc to i64\n"
    "  %sext = sext i32 %trunc to i64\n"
    "  %fptoui = fptoui float %x to i32\n"
    "  %fptosi = fptosi float %x to i32\n"
    "  %uitofp = uitofp i64 %i to float\n"
    "  %sitofp = sitofp i64 %i to float\n"
    "  %fptrunc = fptrunc double %d to float\n"
    "  %fpext = fpext float %x to double\n"
    "  %ptrtoint = ptrtoint ptr %p to i64\n"
    "  %inttoptr = inttoptr i64 %i to ptr\n"
    "  %bitcast = bitcast i64 %i to double\n"
    "  %addrspacecast = addrspacecast ptr addrspace(1) %q to ptr\n"
    "  ret void\n"
    "}\n"
    "define void @memory(ptr %p, ptr %list) {\n"
    "  %alloca = alloca i32, align 4\n"
    "  %load = load i32, ptr %p, align 4\n"
    "  store i32 %load, ptr %p, align 4\n"
    "  fence seq_cst\n"
    "  %cmpxchg = cmpxchg ptr %p, i32 0, i32 1 acq_rel monotonic\n"
    "  %atomicrmw = atomicrmw add ptr %p, i32 1 seq_cst\n"
    "  %getelementptr = getelementptr i32, ptr %p, i64 1\n"
    "  %va_arg = va_arg ptr %list, i32\n"
    "  ret void\n"
    "}\n"
    "define void @aggregates(<2 x i32> %v, {i32, i32} %s) {\n"
    "  %extractelement = extractelement <2 x i32> %v, i32 0\n"
    "  %insertelement = insertelement <2 x i32> %v, i32 7, i32 0\n"
    "  %shufflevector = shufflevector <2 x i32> %v, <2 x i32> %v, <3 x i32> <i32 3, i32 poison, "
    "i32 0>\n"
    "  %extractvalue = extractvalue {i32, i32} %s, 1\n"
    "  %insertvalue = insertvalue {i32, i32} %s, i32 9, 0\n"
    "  ret void\n"
    "}\n"
    "define i32 @jumps(i32 %n, ptr %to) {\n"
    "entry:\n"
    "  switch i32 %n, label %other [i32 1, label %one i32 2, label %two i32 3, label %one]\n"
    "other:\n"
    "  indirectbr ptr %to, [label %one, label %two]\n"
    "one:\n"
    "  callbr void asm sideeffect \"\", \"!i\"() to label %two [label %three]\n"
    "two:\n"
    "  %phi = phi i32 [ 5, %one ], [ %n, %entry ], [ 6, %other ]\n"
    "  %icmp = icmp eq i32 %phi, 5\n"
    "  br i1 %icmp, label %three, label %dead\n"
    "three:\n"
    "  ret i32 0\n"
    "dead:\n"
    "  unreachable\n"
    "}\n"
    "define void @throws(i32 %n) personality ptr @personality {\n"
    "entry:\n"
    "  %call = call i32 @external(i32 %n)\n"
    "  %invoke = invoke i32 @external(i32 %n) to label %done unwind label %caught\n"
    "caught:\n"
    "  %landingpad = landingpad {ptr, i32} cleanup catch ptr null\n"
    "  resume {ptr, i32} %landingpad\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "define void @pads() personality ptr @personality {\n"
    "entry:\n"
    "  invoke void @pads() to label %done unwind label %cleanup\n"
    "cleanup:\n"
    "  %other = cleanuppad within none []\n"
    "  cleanupret from %other unwind to caller\n"
    "done:\n"
    "  ret void\n"
    "}\n";

static void test_every_operation_is_known(void **state)
{
    struct rh_module *m = open_text(all_ops);
    bool seen[RH_OP_COUNT] = {false};

    (void)state;
    for (uint32_t i = 0; i < rh_ir_function_count(m); i++) {
        struct rh_function *f = rh_ir_function(m, i);

        for (uint32_t b = 0; b < f->block_count; b++) {
            for (struct rh_value *v = f->blocks[b]->first; v; v = v->next) {
                seen[v->op] = true;
                assert_int_equal(v->kind, RH_VALUE_INST);
                if (*v->name)
                    assert_string_equal(v->name, op_name(v->op));
            }
        }
    }
    for (int op = 0; op < RH_OP_COUNT; op++) {
        if (!seen[op])
            fail_msg("no %s in the module", op_name((enum rh_op)op));
    }
    rh_ir_close(m);
}

static void test_memory_operations(void **state)
{
    static const char text[] =
        "define void @f(ptr %p, ptr %q) {\n"
        "  %slot = alloca [3 x i16], i32 2, align 16\n"
        "  %plain = load i64, ptr %p, align 2\n"
        "  %vol = load volatile i8, ptr %p\n"
        "  %acq = load atomic i32, ptr %p acquire, align 4\n"
        "  store atomic i32 7, ptr %p syncscope(\"singlethread\") release, align 4\n"
        "  store ptr %p, ptr %q\n"
        "  %x = cmpxchg weak ptr %p, i64 1, i64 2 acq_rel acquire\n"
        "  %r = atomicrmw xchg ptr %p, i16 3 monotonic\n"
        "  %u = load atomic i32, ptr %p unordered, align 4\n"
        "  fence syncscope(\"singlethread\") acq_rel\n"
        "  fence release\n"
        "  ret void\n"
        "}\n";
    struct rh_module *m = open_text(text);
    struct rh_function *f = get_function(m, "f");
    struct rh_value *p = f->args[0], *q = f->args[1], *v;

    (void)state;
    v = get_value(f, "slot");
    assert_int_equal(v->access->size, 6);
    assert_int_equal(v->align, 16);
    assert_int_equal(v->ops[0]->num, 2);
    v = get_value(f, "plain");
    assert_int_equal(v->access->bits, 64);
    assert_int_equal(v->align, 2);
    assert_int_equal(v->order, RH_MO_PLAIN);
    assert_false(v->is_volatile);
    assert_true(get_value(f, "vol")->is_volatile);
    assert_int_equal(get_value(f, "acq")->order, RH_MO_ACQUIRE);
    assert_int_equal(get_value(f, "u")->order, RH_MO_UNORDERED);
    v = get_nth(f, RH_OP_STORE, 0);
    assert_int_equal(v->order, RH_MO_RELEASE);
    assert_true(v->single_thread);
    assert_int_equal(v->access->bits, 32);
    assert_ptr_equal(rh_ir_pointer(v), p);
    v = get_nth(f, RH_OP_STORE, 1);
    assert_int_equal(v->access->kind, RH_TYPE_PTR);
    assert_ptr_equal(v->ops[0], p);
    assert_ptr_equal(rh_ir_pointer(v), q);
    v = get_value(f, "x");
    assert_int_equal(v->order, RH_MO_ACQ_REL);
    assert_int_equal(v->fail_order, RH_MO_ACQUIRE);
    assert_int_equal(v->access->bits, 64);
    assert_ptr_equal(rh_ir_pointer(v), p);
    v = get_value(f, "r");
    assert_int_equal(v->order, RH_MO_RELAXED);
    assert_int_equal(v->access->bits, 16);
    assert_int_equal(v->predicate, 0);
    assert_ptr_equal(rh_ir_pointer(v), p);
    v = get_nth(f, RH_OP_FENCE, 0);
    assert_int_equal(v->order, RH_MO_ACQ_REL);
    assert_true(v->single_thread);
    assert_null(rh_ir_pointer(v));
    v = get_nth(f, RH_OP_FENCE, 1);
    assert_int_equal(v->order, RH_MO_RELEASE);
    assert_false(v->single_thread);
    rh_ir_close(m);
}

static void test_details_of_operations(void **state)
{
    struct rh_module *m = open_text(all_ops);
    struct rh_function *f = get_function(m, "aggregates");
    struct rh_value *v = get_value(f, "shufflevector");

    (void)state;
    assert_int_equal(v->index_count, 3);
    assert_int_equal(v->indices[0], 3);
    assert_int_equal(v->indices[1], UINT_MAX);
    assert_int_equal(v->indices[2], 0);
    v = get_value(f, "extractvalue");
    assert_int_equal(v->index_count, 1);
    assert_int_equal(v->indices[0], 1);
    v = get_value(f, "insertvalue");
    assert_int_equal(v->op_count, 2);
    assert_int_equal(v->indices[0], 0);
    f = get_function(m, "arithmetic");
    assert_int_equal(get_value(f, "icmp")->predicate, 36); /* unsigned less than */
    assert_int_equal(get_value(f, "fcmp")->predicate, 4);  /* ordered less than */
    assert_false(get_value(f, "add")->never_wraps);
    v = get_value(f, "sub");
    assert_int_equal(v->op_count, 2);
    assert_ptr_equal(v->ops[0], get_value(f, "add"));
    assert_ptr_equal(v->ops[1], f->args[1]);
    assert_ptr_equal(v->fn, f);
    assert_ptr_equal(v->block, f->blocks[0]);
    f = get_function(m, "casts");
    assert_int_equal(get_value(f, "q")->type->address_space, 1);
    assert_int_equal(get_value(f, "p")->type->address_space, 0);
    rh_ir_close(m);
}

static void test_jumps(void **state)
{
    struct rh_module *m = open_text(all_ops);
    struct rh_function *f = get_function(m, "jumps");
    struct rh_block **b = f->blocks; /* entry, other, one, two, three, dead */
    struct rh_value *v = b[0]->last;

    (void)state;
    assert_int_equal(f->block_count, 6);
    assert_int_equal(v->op_count, 4);
    assert_ptr_equal(v->ops[0], f->args[0]);
    assert_int_equal(v->ops[3]->num, 3);
    assert_ptr_equal(v->targets[0], b[1]);
    assert_ptr_equal(v->targets[2], b[3]);
    assert_ptr_equal(v->targets[3], b[2]);
    assert_int_equal(b[0]->succ_count, 3); /* two cases share a block */
    assert_ptr_equal(b[0]->succs[0], b[1]);
    assert_int_equal(b[1]->last->op_count, 1);
    assert_int_equal(b[1]->succ_count, 2);
    assert_int_equal(b[2]->last->op_count, 0);
    assert_int_equal(b[2]->last->callee->kind, RH_VALUE_ASM);
    assert_int_equal(b[2]->succ_count, 2);
    v = get_value(f, "phi");
    assert_int_equal(v->op_count, 3);
    assert_ptr_equal(v->targets[0], b[2]);
    assert_ptr_equal(v->ops[1], f->args[0]);
    assert_ptr_equal(v->targets[1], b[0]);
    assert_int_equal(b[3]->pred_count, 3);
    assert_int_equal(b[3]->last->op_count, 1);
    assert_ptr_equal(b[3]->succs[0], b[4]);
    assert_int_equal(b[5]->succ_count, 0);
    v = rh_ir_find_global(m, "place")->global->init;
    assert_int_equal(v->kind, RH_VALUE_BLOCK);
    assert_ptr_equal(v->block, b[2]);
    assert_ptr_equal(v->fn, f);
    rh_ir_close(m);
}

static const char call_module[] =
    "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
    "declare i32 @llvm.ctpop.i32(i32)\n"
    "declare i32 @twice(ptr) returns_twice\n"
    "declare i32 @plain(i32, ptr)\n"
    "@other = alias i32 (i32, ptr), ptr @called\n"
    "define i32 @called(i32 %n, ptr %p) {\n"
    "  ret i32 %n\n"
    "}\n"
    "define void @f(ptr %p, ptr %q) {\n"
    "  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 4, i1 false)\n"
    "  %direct = call i32 @plain(i32 3, ptr %q) [\"deopt\"(ptr %p, i32 1)]\n"
    "  %count = call i32 @llvm.ctpop.i32(i32 %direct)\n"
    "  %open = call i32 %p(i32 %count)\n"
    "  %alias = call i32 @other(i32 1, ptr null)\n"
    "  ret void\n"
    "}\n"
    "declare i32 @pure(i32) memory(none)\n"
    "define i32 @quiet(ptr byval(i64) %copied, ptr %own) {\n"
    "  %none = call i32 @pure(i32 1)\n"
    "  %bundled = call i32 @pure(i32 1) [\"deopt\"(i32 1)]\n"
    "  %asm = call i32 asm \"\", \"=r\"() memory(none)\n"
    "  %loud = call i32 asm sideeffect \"\", \"=r,~{memory}\"()\n"
    "  %reads = call i32 %own() memory(read)\n"
    "  ret i32 %none\n"
    "}\n"
    "define void @by_callee(ptr %p) {\n"
    "  %r = call i32 @twice(ptr %p)\n"
    "  ret void\n"
    "}\n"
    "define void @by_call_site(ptr %p) {\n"
    "  %r = call i32 %p(ptr %p) returns_twice\n"
    "  ret void\n"
    "}\n";

static void test_calls(void **state)
{
    struct rh_module *m = open_text(call_module);
    struct rh_function *f = get_function(m, "f");
    struct rh_value *v = get_first(f, RH_OP_CALL);

    (void)state;
    assert_string_equal(v->intrinsic, "llvm.memcpy");
    assert_int_equal(v->op_count, 4);
    assert_ptr_equal(v->ops[1], f->args[1]);
    assert_string_equal(get_value(f, "count")->intrinsic, "llvm.ctpop");
    v = get_value(f, "direct");
    assert_null(v->intrinsic);
    assert_int_equal(v->op_count, 2);
    assert_ptr_equal(v->callee, get_function(m, "plain")->value);
    assert_ptr_equal(get_value(f, "open")->callee, f->args[0]);
    v = get_value(f, "alias");
    assert_int_equal(v->callee->kind, RH_VALUE_ALIAS);
    assert_ptr_equal(v->callee->ops[0], get_function(m, "called")->value);
    rh_ir_close(m);
}

static void test_attributes_of_calls(void **state)
{
    struct rh_module *m = open_text(call_module);
    struct rh_function *f = get_function(m, "quiet");

    (void)state;
    assert_false(get_function(m, "f")->returns_twice);
    assert_true(get_function(m, "by_callee")->returns_twice);
    assert_true(get_function(m, "by_call_site")->returns_twice);
    assert_false(get_function(m, "twice")->returns_twice);
    assert_true(f->args[0]->is_by_value);
    assert_false(f->args[1]->is_by_value);
    assert_true(get_value(f, "none")->no_memory);
    assert_true(get_value(f, "asm")->no_memory);
    assert_false(get_value(f, "bundled")->no_memory);
    assert_false(get_value(f, "loud")->no_memory);
    assert_false(get_value(f, "reads")->no_memory);
    rh_ir_close(m);
}

static const struct rh_value *get_init(const struct rh_module *m, const char *global)
{
    struct rh_value *v = rh_ir_find_global(m, global);

    assert_non_null(v);
    return v->global->init;
}

static void test_constants(void **state)
{
    static const char text[] =
        "@small = global i8 -1\n"
        "@wide = global i128 -36893488147419103231\n"
        "@real = global double 1.5\n"
        "@null = global ptr null\n"
        "@zero = global [4 x i32] zeroinitializer\n"
        "@undef = global i32 undef\n"
        "@poison = global i32 poison\n"
        "@bytes = global [3 x i8] c\"abc\"\n"
        "@table = global [2 x ptr] [ptr @f, ptr getelementptr (i8, ptr @bytes, i64 2)]\n"
        "@deep = global {i32, {ptr}} {i32 4, {ptr} {ptr @deep}}\n"
        "@offset = global i64 ptrtoint (ptr @bytes to i64)\n"
        "@equivalent = global ptr dso_local_equivalent @f\n"
        "@outside = external global i32\n"
        "define void @f() {\n"
        "  ret void\n"
        "}\n";
    struct rh_module *m = open_text(text);
    struct rh_value *f = get_function(m, "f")->value;
    const struct rh_value *v;

    (void)state;
    assert_int_equal(get_init(m, "small")->kind, RH_VALUE_INT);
    assert_int_equal(get_init(m, "small")->num, -1);
    assert_int_equal(get_init(m, "wide")->num, 1);
    assert_int_equal(get_init(m, "real")->kind, RH_VALUE_FP);
    assert_int_equal(get_init(m, "null")->kind, RH_VALUE_NULL);
    assert_int_equal(get_init(m, "zero")->kind, RH_VALUE_NULL);
    assert_int_equal(get_init(m, "undef")->kind, RH_VALUE_UNDEF);
    assert_int_equal(get_init(m, "poison")->kind, RH_VALUE_UNDEF);
    assert_int_equal(get_init(m, "bytes")->kind, RH_VALUE_DATA);
    assert_int_equal(get_init(m, "bytes")->op_count, 0);
    assert_null(get_init(m, "outside"));
    v = get_init(m, "table");
    assert_int_equal(v->kind, RH_VALUE_AGGREGATE);
    assert_int_equal(v->op_count, 2);
    assert_ptr_equal(v->ops[0], f);
    assert_int_equal(v->ops[1]->kind, RH_VALUE_EXPR);
    assert_int_equal(v->ops[1]->op, RH_OP_GEP);
    assert_int_equal(v->ops[1]->gep->offset, 2);
    v = get_init(m, "deep");
    assert_ptr_equal(v->ops[1]->ops[0], rh_ir_find_global(m, "deep"));
    v = get_init(m, "offset");
    assert_int_equal(v->kind, RH_VALUE_EXPR);
    assert_int_equal(v->op, RH_OP_PTRTOINT);
    v = get_init(m, "equivalent");
    assert_int_equal(v->kind, RH_VALUE_EXPR);
    assert_int_equal(v->op, RH_OP_BITCAST);
    assert_ptr_equal(v->ops[0], f);
    rh_ir_close(m);
}

static const struct gep_case {
    const char *name;
    int64_t offset;
    uint32_t term_count;
    int64_t scale; /* of the first term */
    bool unknown;
} gep_cases[] = {
    {"bytes", 5, 0, 0, false},  {"negative", -12, 0, 0, false}, {"wide", -4, 0, 0, false},
    {"wraps", -8, 0, 0, false}, {"field", 8, 0, 0, false},      {"inner", 24 + 16 + 2, 0, 0, false},
    {"index", 0, 1, 4, false},  {"row", 8, 1, 24, false},       {"matrix", 3 * 4, 1, 40, false},
    {"lane", 2, 1, 16, false},  {"tight", 10, 0, 0, false},     {"empty", 0, 0, 0, false},
    {"splat", 4, 0, 0, false},  {"lanes", 0, 1, 4, false},      {"scalable", 0, 1, 0, true},
};

static const char geps[] =
    "target datalayout = \"e-m:e-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n"
    "%pair = type { i8, i64, [3 x i16] }\n"
    "define void @f(ptr %p, i64 %i, i32 %j, <2 x ptr> %ps) {\n"
    "  %bytes = getelementptr i8, ptr %p, i64 5\n"
    "  %negative = getelementptr i32, ptr %p, i32 -3\n"
    "  %wide = getelementptr i32, ptr %p, i128 -1\n"
    "  %wraps = getelementptr i64, ptr %p, i64 9223372036854775807\n"
    "  %field = getelementptr inbounds %pair, ptr %p, i64 0, i32 1\n"
    "  %inner = getelementptr %pair, ptr %p, i64 1, i32 2, i64 1\n"
    "  %index = getelementptr i32, ptr %p, i32 %j\n"
    "  %row = getelementptr %pair, ptr %p, i64 %i, i32 1\n"
    "  %matrix = getelementptr [10 x i32], ptr %p, i64 %i, i64 3\n"
    "  %lane = getelementptr <8 x i16>, ptr %p, i64 %i, i64 1\n"
    "  %tight = getelementptr <2 x x86_fp80>, ptr %p, i64 0, i64 1\n"
    "  %empty = getelementptr {}, ptr %p, i64 %i\n"
    "  %splat = getelementptr i32, <2 x ptr> %ps, <2 x i64> <i64 1, i64 1>\n"
    "  %lanes = getelementptr i32, <2 x ptr> %ps, <2 x i64> <i64 1, i64 2>\n"
    "  %scalable = getelementptr <vscale x 4 x i32>, ptr %p, i64 %i\n"
    "  ret void\n"
    "}\n";

static void test_getelementptr(void **state)
{
    struct rh_module *m = open_text(geps);
    struct rh_function *f = get_function(m, "f");

    (void)state;
    for (size_t i = 0; i < sizeof gep_cases / sizeof gep_cases[0]; i++) {
        const struct gep_case *c = &gep_cases[i];
        const struct rh_gep *gep = get_value(f, c->name)->gep;

        assert_int_equal(gep->unknown, c->unknown);
        if (c->unknown)
            continue;
        if (gep->offset != c->offset)
            fail_msg("%s: offset %lld", c->name, (long long)gep->offset);
        assert_int_equal(gep->term_count, c->term_count);
        if (gep->term_count)
            assert_int_equal(gep->terms[0].scale, c->scale);
    }
    assert_ptr_equal(get_value(f, "index")->gep->terms[0].index, get_value(f, "j"));
    assert_ptr_equal(get_value(f, "row")->gep->terms[0].index, get_value(f, "i"));
    assert_string_equal(get_value(f, "row")->gep->source->name, "pair");
    assert_false(get_value(f, "field")->gep->is_loose);
    assert_true(get_value(f, "row")->gep->is_loose);
    assert_true(get_value(f, "row")->gep->terms[0].is_pointer);
    rh_ir_close(m);
}

static void test_ids_are_dense_and_repeatable(void **state)
{
    struct rh_module *m = open_text(all_ops), *again = open_text(all_ops);
    uint32_t next;

    (void)state;
    for (uint32_t i = 0; i < rh_ir_function_count(m); i++) {
        struct rh_function *f = rh_ir_function(m, i), *g = rh_ir_function(again, i);

        assert_int_equal(f->id, i);
        assert_string_equal(f->name, g->name);
        if (f->block_count == 0)
            continue;
        next = f->arg_count ? f->args[0]->id + f->arg_count : f->blocks[0]->first->id;
        for (uint32_t b = 0; b < f->block_count; b++) {
            struct rh_value *w = g->blocks[b]->first;

            assert_int_equal(f->blocks[b]->id, b);
            for (struct rh_value *v = f->blocks[b]->first; v; v = v->next, w = w->next) {
                assert_int_equal(v->id, next++);
                assert_int_equal(v->id, w->id);
                assert_int_equal(v->op, w->op);
            }
            assert_null(w);
        }
    }
    rh_ir_close(m);
    rh_ir_close(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation_is_known),
        cmocka_unit_test(test_memory_operations),
        cmocka_unit_test(test_details_of_operations),
        cmocka_unit_test(test_jumps),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_attributes_of_calls),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_getelementptr),
        cmocka_unit_test(test_ids_are_dense_and_repeatable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
