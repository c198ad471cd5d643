/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions of x86-64 tell about the stack: see code.h. */
#include "arch/x86_64/code.h"

static intptr_t read_distance(const uint8_t *at)
{
    uint32_t value = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    return (int32_t)value;
}

/* Bytes of an operand in memory or a register, from its first byte on. */
static int operand_length(const uint8_t *at)
{
    uint8_t mode = at[0] >> 6, base = at[0] & 7;
    bool is_scaled = mode != 3 && base == 4;
    bool is_absolute = mode == 0 && (base == 5 || (is_scaled && (at[1] & 7) == 5));
    return 1 + is_scaled + (mode == 2 || is_absolute ? 4 : mode == 1);
}

/* The forms of call: e8 with a distance of four bytes, and ff with 2 in the middle of its operand.
 */
bool rt_arch_is_call(const uint8_t bytes[RT_CALL_LENGTH])
{
    const uint8_t *end = bytes + RT_CALL_LENGTH;
    if (end[-5] == 0xe8)
        return true;
    for (int length = 2; length <= RT_CALL_LENGTH; length++) {
        const uint8_t *at = end - length;
        bool is_call = at[0] == 0xff && (at[1] >> 3 & 7) == 2;
        if (is_call && (length > 2 || at[1] >> 6 == 3 || (at[1] & 7) != 4) &&
            1 + operand_length(at + 1) == length)
            return true;
    }
    return false;
}

uintptr_t rt_arch_call_target(uintptr_t return_address)
{
    const uint8_t *end = (const uint8_t *)return_address;
    if (end[-5] != 0xe8)
        return 0;
    uint32_t distance =
        end[-4] | (uint32_t)end[-3] << 8 | (uint32_t)end[-2] << 16 | (uint32_t)end[-1] << 24;
    return return_address + (uintptr_t)(intptr_t)(int32_t)distance;
}

/* jmp *distance(%rip), perhaps behind endbr64 and with the prefix bnd. */
bool rt_arch_is_jump(const uint8_t code[RT_JUMP_LENGTH])
{
    if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa)
        code += 4;
    if (code[0] == 0xf2)
        code++;
    return code[0] == 0xff && code[1] == 0x25;
}

/* --- the stubs of keys --- */

/* The instructions that stubs are made of (src/instrument/keys.c), by the bits that are fixed. */
static const struct stub_instruction {
    uint8_t bytes[8], mask[8];
    uint8_t length; /* without the operand, if it has one */
    bool has_operand;
    int16_t moves; /* the stack pointer */
} stub_instructions[] = {
    {{0x48, 0x8d, 0x64, 0x24, 0x80}, {255, 255, 255, 255, 255}, 5, false, -128}, /* lea */
    {{0x68}, {255}, 5, false, -8},                        /* push of the key */
    {{0x6a}, {255}, 2, false, -8},                        /* push of the key or size */
    {{0x50}, {0xf8}, 1, false, -8},                       /* push of a register */
    {{0x41, 0x50}, {255, 0xf8}, 2, false, -8},            /* push of r8 and up */
    {{0x48, 0x8d, 0x38}, {0xfc, 255, 0x38}, 2, true, 0},  /* lea into rdi */
    {{0x48, 0x89, 0xc7}, {0xfb, 255, 0xc7}, 3, false, 0}, /* mov into rdi */
    {{0x31, 0xff}, {255, 255}, 2, false, 0},              /* xor of rdi */
    {{0xe8}, {255}, 5, false, 0},                         /* call of the thunk */
    {{0x5f}, {255}, 1, false, 8},                         /* pop of rdi */
    {{0x48, 0x8d, 0xa4, 0x24, 144}, {255, 255, 255, 255, 255, 255, 255, 255}, 8, false, 144},
};
enum { STUB_INSTRUCTIONS = sizeof stub_instructions / sizeof stub_instructions[0] };

static bool matches(const struct stub_instruction *i, const uint8_t *code)
{
    for (int k = 0; k < 8; k++)
        if ((code[k] & i->mask[k]) != i->bytes[k])
            return false;
    return true;
}

static const struct stub_instruction *find_instruction(const uint8_t *code)
{
    for (int i = 0; i < STUB_INSTRUCTIONS; i++)
        if (matches(&stub_instructions[i], code))
            return &stub_instructions[i];
    return NULL;
}

/* Follows the stub to its end, which no other code has: the last instruction that moves the stack
 * pointer back, and a jump. */
bool rt_arch_leave_stub(const uint8_t *code, uintptr_t *resume, intptr_t *above)
{
    const struct stub_instruction *last = &stub_instructions[STUB_INSTRUCTIONS - 1];
    const uint8_t *at = code, *end = code + RT_STUB_LENGTH - 16;
    bool is_end = matches(last, at - RT_STUB_BEFORE);
    *above = 0;
    while (at < end && !(is_end && *at == 0xe9)) {
        const struct stub_instruction *i = find_instruction(at);
        if (!i)
            return false;
        *above += i->moves;
        at += i->length + (i->has_operand ? operand_length(at + i->length) : 0);
        is_end = i == last;
    }
    *resume = (uintptr_t)at + 5 + (uintptr_t)read_distance(at + 1);
    return at < end;
}
