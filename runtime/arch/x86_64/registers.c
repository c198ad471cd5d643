/* Registers of x86-64 for walks over the stack: see registers.h. */
#include "arch/x86_64/registers.h"

#include <ucontext.h>

#include "keys.h"

void rt_arch_registers_at_key(const struct rh_hook_frame *frame, struct rt_registers *r)
{
    const uint64_t values[RT_REGISTER_COUNT] = {
        [0] = frame->rax,
        [1] = frame->rdx,
        [2] = frame->rcx,
        [3] = frame->rbx,
        [4] = frame->rsi,
        [5] = frame->rdi,
        [6] = frame->rbp,
        [7] = rt_arch_stack(frame),
        [8] = frame->r8,
        [9] = frame->r9,
        [10] = frame->r10,
        [11] = frame->r11,
        [16] = rt_arch_resume(frame),
    };
    for (int i = 0; i < RT_REGISTER_COUNT; i++)
        r->value[i] = values[i];
    r->known = 0x10fff;
}

void rt_arch_registers_at_signal(const void *context, struct rt_registers *r)
{
    static const uint8_t order[RT_REGISTER_COUNT] = {
        REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
        REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
    };
    const ucontext_t *u = context;
    for (int i = 0; i < RT_REGISTER_COUNT; i++)
        r->value[i] = (uint64_t)u->uc_mcontext.gregs[order[i]];
    r->known = (1u << RT_REGISTER_COUNT) - 1;
}

/* The forms of call: e8 with a distance of four bytes; ff with 2 in the middle of the second byte,
 * whose other bits say how many bytes of address follow. */
bool rt_arch_is_call(const uint8_t bytes[RT_CALL_LENGTH])
{
    const uint8_t *end = bytes + RT_CALL_LENGTH;
    if (end[-5] == 0xe8)
        return true;
    for (int length = 2; length <= RT_CALL_LENGTH; length++) {
        const uint8_t *at = end - length;
        uint8_t mode = at[1] >> 6, base = at[1] & 7;
        if (at[0] != 0xff || (at[1] >> 3 & 7) != 2)
            continue;
        bool scaled = mode != 3 && base == 4;
        bool wide = mode == 2 || (mode == 0 && base == 5) ||
                    (mode == 0 && scaled && length > 2 && (at[2] & 7) == 5);
        if (length == 2 + scaled + (wide ? 4 : mode == 1))
            return true;
    }
    return false;
}
