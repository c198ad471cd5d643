/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of call frame information packed into two words, for the cache.
 *
 * Nearly all rows say: the CFA is a register and an offset, the return address is below it, and
 * some of the registers that functions keep are saved in words further below. Only such rows, the
 * row of a function without caller, and the fact that there is no row, can be packed.
 *
 *   base:  offset of the CFA (32 bits), its register (8), kind (8)
 *   saved: for each register of RT_SAVED_REGISTERS 8 bits: words below the CFA, 0 if not saved
 */
#ifndef RH_RUNTIME_STACK_ROW_H
#define RH_RUNTIME_STACK_ROW_H

#include "stack/cfi.h"

enum rt_row_kind {
    RT_ROW_ABSENT, /* there is no row here */
    RT_ROW_STEP,
    RT_ROW_OUTERMOST,
};

struct rt_row {
    uint64_t base, saved;
};
_Static_assert(RT_SAVED_COUNT * 8 <= 64, "they share a word");
_Static_assert(RT_REGISTER_COUNT <= 256, "a register is 8 bits");

static inline enum rt_row_kind rt_row_kind(const struct rt_row *p)
{
    return (enum rt_row_kind)(p->base >> 40 & 0xff);
}

static inline uint32_t rt_row_register(const struct rt_row *p)
{
    return p->base >> 32 & 0xff;
}

static inline int32_t rt_row_offset(const struct rt_row *p)
{
    return (int32_t)(uint32_t)p->base;
}

/* Bytes below the CFA where the register of that index in RT_SAVED_REGISTERS is, 0 if not saved. */
static inline uint32_t rt_row_saved(const struct rt_row *p, uint32_t index)
{
    return (uint32_t)(p->saved >> (8 * index) & 0xff) * 8;
}

static inline struct rt_row rt_row_make(enum rt_row_kind kind, uint32_t reg, int32_t offset)
{
    return (struct rt_row){.base = (uint64_t)kind << 40 | (uint64_t)reg << 32 | (uint32_t)offset};
}

/* A row that changes what functions keep in any other way than saving it below the CFA, that knows
 * more registers than those, or whose caller was interrupted, is not for the cache. */
static inline bool rt_row_pack(const struct rt_cfi_row *row, struct rt_row *p)
{
    static const uint8_t registers[RT_SAVED_COUNT] = RT_SAVED_REGISTERS;
    uint32_t ruled = 0;
    if (row->is_signal || row->cfa_rule != RT_CFI_SUM || row->return_register != RT_REGISTER_PC)
        return false;
    for (uint32_t reg = 0; reg < RT_REGISTER_COUNT; reg++)
        ruled |= (uint32_t)(row->rule[reg] != RT_CFI_DEFAULT) << reg;
    *p = rt_row_make(RT_ROW_OUTERMOST, 0, 0);
    if (row->rule[RT_REGISTER_PC] == RT_CFI_LOST)
        return true;
    *p = rt_row_make(RT_ROW_STEP, row->cfa_register, row->cfa_value);
    if (ruled & ~(uint32_t)(RT_SAVED_MASK | 1 << RT_REGISTER_PC) ||
        row->rule[RT_REGISTER_PC] != RT_CFI_SAVED || row->value[RT_REGISTER_PC] != RT_RETURN_OFFSET)
        return false;
    for (uint32_t i = 0; i < RT_SAVED_COUNT; i++) {
        uint32_t reg = registers[i];
        if (row->rule[reg] == RT_CFI_DEFAULT || row->rule[reg] == RT_CFI_SAME)
            continue;
        int64_t below = -(int64_t)row->value[reg];
        if (row->rule[reg] != RT_CFI_SAVED || below <= 0 || below > 255 * 8 || below % 8)
            return false;
        p->saved |= (uint64_t)(below / 8) << (8 * i);
    }
    return true;
}

#endif
