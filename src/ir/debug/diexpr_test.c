/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of diexpr.c with expressions that LLVM makes.
 */
#include "ir/testing.h"

#include "ir/debug/diexpr.h"

#include <llvm-c/DebugInfo.h>

enum {
    OP_DEREF = 0x06,
    OP_CONSTU = 0x10,
    OP_MINUS = 0x1c,
    OP_MUL = 0x1e,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_STACK_VALUE = 0x9f,
    OP_LLVM_FRAGMENT = 0x1000,
    OP_LLVM_CONVERT = 0x1001,
    OP_LLVM_ARG = 0x1005,
    ENCODING_SIGNED = 0x05,
};

struct bench {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMDIBuilderRef builder;
    struct rh_diexprs exprs;
};

static int open_bench(void **state)
{
    static struct bench b;

    b.context = LLVMContextCreate();
    b.module = LLVMModuleCreateWithNameInContext("test", b.context);
    b.builder = LLVMCreateDIBuilder(b.module);
    rh_diexprs_init(&b.exprs, b.context);
    *state = &b;
    return 0;
}

static int close_bench(void **state)
{
    struct bench *b = *state;

    rh_diexprs_release(&b->exprs);
    LLVMDisposeDIBuilder(b->builder);
    LLVMDisposeModule(b->module);
    LLVMContextDispose(b->context);
    return 0;
}

static const struct rh_diexpr *read_ops(struct bench *b, uint64_t *ops, size_t count)
{
    return rh_diexpr_of(&b->exprs, LLVMDIBuilderCreateExpression(b->builder, ops, count));
}

#define READ(b, ...)                                                                               \
    read_ops((b), (uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void reads_plain(void **state)
{
    const struct rh_diexpr *e = read_ops(*state, NULL, 0);

    assert_true(e->is_known);
    assert_false(e->derefs || e->is_stack_value || e->is_part);
    assert_int_equal(e->plus, 0);
    assert_ptr_equal(e, read_ops(*state, NULL, 0));
}

static void reads_sums(void **state)
{
    const struct rh_diexpr *e = READ(*state, OP_PLUS_UCONST, 24, OP_STACK_VALUE);

    assert_true(e->is_known && e->is_stack_value && !e->derefs);
    assert_int_equal(e->plus, 24);
    e = READ(*state, OP_CONSTU, 8, OP_MINUS, OP_STACK_VALUE);
    assert_true(e->is_known);
    assert_int_equal(e->plus, -8);
    e = READ(*state, OP_CONSTU, 8, OP_PLUS, OP_PLUS_UCONST, 4, OP_DEREF);
    assert_true(e->is_known && e->derefs);
    assert_int_equal(e->plus, 12);
}

static void reads_parts(void **state)
{
    const struct rh_diexpr *e = READ(*state, OP_LLVM_FRAGMENT, 64, 32);

    assert_true(e->is_known && e->is_part);
    assert_int_equal(e->offset, 8);
    assert_int_equal(e->size, 4);
    assert_false(READ(*state, OP_LLVM_FRAGMENT, 3, 5)->is_known);
}

static void reads_conversions(void **state)
{
    assert_true(READ(*state, OP_LLVM_CONVERT, 64, ENCODING_SIGNED, OP_LLVM_CONVERT, 32,
                     ENCODING_SIGNED, OP_STACK_VALUE)
                    ->is_known);
}

static void admits_what_it_does_not_know(void **state)
{
    assert_false(READ(*state, OP_CONSTU, 8, OP_MUL, OP_STACK_VALUE)->is_known);
    assert_false(READ(*state, OP_DEREF, OP_PLUS_UCONST, 8)->is_known);
    assert_false(READ(*state, OP_DEREF, OP_DEREF)->is_known);
    assert_false(READ(*state, OP_LLVM_ARG, 0, OP_LLVM_ARG, 1, OP_PLUS, OP_STACK_VALUE)->is_known);
    assert_false(READ(*state, OP_PLUS_UCONST, UINT64_C(1) << 40, OP_STACK_VALUE)->is_known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_plain),
        cmocka_unit_test(reads_sums),
        cmocka_unit_test(reads_parts),
        cmocka_unit_test(reads_conversions),
        cmocka_unit_test(admits_what_it_does_not_know),
    };

    return cmocka_run_group_tests(tests, open_bench, close_bench);
}
