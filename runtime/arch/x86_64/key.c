/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys on x86-64: `test $imm32, %eax` (a9) off, `jmp rel32` (e9) on, same four bytes behind.
 */
#include "keys.h"

enum { KEY_OFF = 0xa9, KEY_ON = 0xe9, KEY_LENGTH = 5 };

static int32_t read_distance(const uint8_t *at)
{
    uint32_t value = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    return (int32_t)value;
}

/*
 * The stub computes the address of the access with a lea after it has moved the stack pointer, and
 * a lea does not add the base of a segment. The instrumentation passes stack variables and a
 * thread's own in a register for that reason; should the code generator still have chosen an
 * address relative to %rsp or %fs, the hook would see a wrong one, so such a key is never switched
 * on. Returns true if the stub's first lea into %rdi is one of these.
 */
static bool stub_has_wrong_address(const uint8_t *stub)
{
    enum { FS = 0x64, GS = 0x65 };
    static const uint8_t step_over[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
    for (size_t i = 0; i < sizeof step_over; i++)
        if (stub[i] != step_over[i])
            return true; /* not a stub we know */
    const uint8_t *at = stub + sizeof step_over;
    at += *at == 0x68 ? 5 : 2;                 /* push of the key's number */
    at += *at == 0x6a ? 2 : 1 + (*at == 0x41); /* push of the size: imm8, register, or r8 and up */
    at += 1;                                   /* push %rdi */
    if (*at == FS || *at == GS)
        return true;
    bool is_lea = (at[0] & 0xf8) == 0x48 && at[1] == 0x8d;
    if (!is_lea)
        return false; /* address already in a register, or none */
    bool has_sib = (at[2] & 0xc0) != 0xc0 && (at[2] & 7) == 4;
    return has_sib && (at[3] & 7) == 4 && !(at[0] & 1);
}

enum rt_patch_result rt_arch_key_byte(const uint8_t *code, bool is_gate, bool on, uint8_t *byte)
{
    if (*code != KEY_OFF && *code != KEY_ON)
        return RT_PATCH_FOREIGN;
    if (on && !is_gate && stub_has_wrong_address(code + KEY_LENGTH + read_distance(code + 1)))
        return RT_PATCH_STACK_ADDRESS;
    *byte = on ? KEY_ON : KEY_OFF;
    return RT_PATCH_DONE;
}

/* See thunk.S for the layout of the stub's end. */
uintptr_t rt_arch_resume(const struct rh_hook_frame *frame)
{
    const uint8_t *after_call = (const uint8_t *)frame->stub;
    return (uintptr_t)(after_call + 14 + read_distance(after_call + 10));
}

uintptr_t rt_arch_stack(const struct rh_hook_frame *frame)
{
    return (uintptr_t)(frame + 1);
}
