/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what instructions tell about the stack. */
#include "arch/x86_64/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* The bytes of an instruction at the end of what precedes a return address. */
static bool is_call(const uint8_t *bytes, size_t size)
{
    uint8_t before[RT_CALL_LENGTH];
    memset(before, 0x90, sizeof before);
    memcpy(before + sizeof before - size, bytes, size);
    return rt_arch_is_call(before);
}
#define IS_CALL(...) is_call((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void test_calls_are_known(void **state)
{
    (void)state;
    assert_true(IS_CALL(0xe8, 1, 2, 3, 4));
    assert_true(IS_CALL(0xff, 0xd0));                   /* *%rax */
    assert_true(IS_CALL(0x41, 0xff, 0xd4));             /* *%r12 */
    assert_true(IS_CALL(0xff, 0x10));                   /* *(%rax) */
    assert_true(IS_CALL(0xff, 0x14, 0x24));             /* *(%rsp) */
    assert_true(IS_CALL(0xff, 0x50, 0x18));             /* *24(%rax) */
    assert_true(IS_CALL(0xff, 0x54, 0x24, 0x08));       /* *8(%rsp) */
    assert_true(IS_CALL(0xff, 0x15, 1, 2, 3, 4));       /* *x(%rip) */
    assert_true(IS_CALL(0xff, 0x90, 0, 1, 0, 0));       /* *256(%rax) */
    assert_true(IS_CALL(0xff, 0x94, 0x24, 0, 1, 0, 0)); /* *256(%rsp) */
    assert_true(IS_CALL(0xff, 0x14, 0xc5, 0, 1, 0, 0)); /* *256(,%rax,8) */
    assert_true(IS_CALL(0xff, 0x14, 0xc3));             /* *(%rbx,%rax,8) */
}

static void test_others_are_not_calls(void **state)
{
    (void)state;
    assert_false(IS_CALL(0x90));
    assert_false(IS_CALL(0xe9, 1, 2, 3, 4));    /* jmp */
    assert_false(IS_CALL(0xe8, 1, 2, 3));       /* cut */
    assert_false(IS_CALL(0xff, 0xe0));          /* jmp *%rax */
    assert_false(IS_CALL(0xff, 0x15, 1, 2, 3)); /* cut */
    assert_false(IS_CALL(0xff, 0x14));          /* cut */
    assert_false(IS_CALL(0xff, 0xd0, 0x90));    /* a call earlier on */
    assert_false(IS_CALL(0, 0, 0, 0, 0, 0, 0));
}

static void test_targets(void **state)
{
    (void)state;
    uint8_t code[16] = {0x90, 0x90, 0xe8, 0xf0, 0xff, 0xff, 0xff, 0x90, 0xff, 0x15, 1, 0, 0, 0};
    uintptr_t start = (uintptr_t)code;
    assert_int_equal(rt_arch_call_target(start + 7), start + 7 - 16);
    assert_int_equal(rt_arch_call_target(start + 14), 0);
}

static void test_jumps_of_linker_stubs(void **state)
{
    (void)state;
    assert_true(rt_arch_is_jump((const uint8_t[]){0xff, 0x25, 0, 0, 0, 0, 0x90}));
    assert_true(rt_arch_is_jump((const uint8_t[]){0xf2, 0xff, 0x25, 0, 0, 0, 0}));
    assert_true(rt_arch_is_jump((const uint8_t[]){0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0}));
    assert_true(rt_arch_is_jump((const uint8_t[]){0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25}));
    assert_false(rt_arch_is_jump((const uint8_t[]){0xff, 0x15, 0, 0, 0, 0, 0}));
    assert_false(rt_arch_is_jump((const uint8_t[]){0xf3, 0x0f, 0x1e, 0xfa, 0x90, 0, 0}));
}

/* A stub with its longest operand, in the middle of other code. */
static const uint8_t stub[128] = {
    [16] = 0x48, 0x8d, 0x64, 0x24, 0x80,                   /* lea -128(%rsp),%rsp */
    0x68,        0x70, 0x11, 0x01, 0x00,                   /* push $70000 */
    0x41,        0x54,                                     /* push %r12 */
    0x57,                                                  /* push %rdi */
    0x4b,        0x8d, 0xbc, 0xe6, 0x00, 0x10, 0x00, 0x00, /* lea 4096(%r14,%r12,8),%rdi */
    0xe8,        0x00, 0x01, 0x00, 0x00,                   /* call */
    0x5f,                                                  /* pop %rdi */
    0x48,        0x8d, 0xa4, 0x24, 0x90, 0x00, 0x00, 0x00, /* lea 144(%rsp),%rsp */
    0xe9,        0xf0, 0xff, 0xff, 0xff,                   /* jmp */
};

static void test_stubs_are_left_from_anywhere(void **state)
{
    (void)state;
    static const struct {
        uint8_t at;
        int16_t above;
    } expected[] = {{16, 0},   {21, 128}, {26, 136}, {28, 144}, {29, 152},
                    {37, 152}, {42, 152}, {43, 144}, {51, 0}};
    uintptr_t end = (uintptr_t)stub + 56;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        uintptr_t resume;
        intptr_t above;
        assert_true(rt_arch_leave_stub(stub + expected[i].at, &resume, &above));
        assert_int_equal(resume, end - 16);
        assert_int_equal(above, expected[i].above);
    }
}

static void test_other_code_is_no_stub(void **state)
{
    (void)state;
    uintptr_t resume;
    intptr_t above;
    uint8_t code[128];
    assert_false(rt_arch_leave_stub(stub + 56, &resume, &above));
    /* A jump alone, and a stub with another end. */
    memcpy(code, stub, sizeof code);
    code[47] = 0x98;
    assert_false(rt_arch_leave_stub(code + 51, &resume, &above));
    assert_false(rt_arch_leave_stub(code + 16, &resume, &above));
    memset(code, 0x57, sizeof code);
    assert_false(rt_arch_leave_stub(code + 16, &resume, &above));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_are_known),
        cmocka_unit_test(test_others_are_not_calls),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_jumps_of_linker_stubs),
        cmocka_unit_test(test_stubs_are_left_from_anywhere),
        cmocka_unit_test(test_other_code_is_no_stub),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
