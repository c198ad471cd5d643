/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information: how to get from a function's registers to its caller's, at any
 * instruction.
 *
 * Images carry it in .eh_frame, a list of entries (FDE), one for each function, each a small
 * program whose execution up to an instruction gives that instruction's row: how to compute the
 * caller's stack pointer (CFA), and where each register of the caller is. What many entries share
 * stands in another kind of entry (CIE). .eh_frame_hdr is an index of the entries, sorted by
 * address.
 *
 * The tables come from someone else's image and may be damaged: nothing is read outside the region
 * given, everything ends after a bounded number of steps, and what makes no sense is RT_CFI_BAD.
 * No libc function is called and no lock taken.
 */
#ifndef RH_RUNTIME_STACK_CFI_H
#define RH_RUNTIME_STACK_CFI_H

#include "arch/x86_64/registers.h"

/* A part of an image, in memory at `bytes`, that holds both .eh_frame_hdr and .eh_frame. `address`
 * is where the image has it: the same, but for copies that tests make. */
struct rt_cfi_tables {
    const uint8_t *bytes;
    size_t size; /* below 4 GiB */
    uintptr_t address;
    size_t header, header_size; /* .eh_frame_hdr, from the beginning of the region */
};

/* Where the caller's value of a register is. `value` is meant by each rule in its own way; of
 * expressions it is the position in the tables. */
enum rt_cfi_rule {
    RT_CFI_DEFAULT,          /* unchanged if functions keep that register, else lost */
    RT_CFI_LOST,             /* nowhere; of the return address: there is no caller */
    RT_CFI_SAME,             /* unchanged */
    RT_CFI_SAVED,            /* in memory at the CFA + value */
    RT_CFI_SUM,              /* the CFA + value */
    RT_CFI_REGISTER,         /* in register `value` */
    RT_CFI_SAVED_EXPRESSION, /* in memory at what the expression gives */
    RT_CFI_EXPRESSION,       /* what the expression gives */
};

struct rt_cfi_row {
    union {
        struct {
            uint8_t cfa_rule; /* RT_CFI_SUM of cfa_register and cfa_value, or RT_CFI_EXPRESSION */
            uint8_t cfa_register;
            uint8_t return_register;
            bool is_signal; /* the caller was interrupted: its pc is no return address */
            uint8_t rule[RT_REGISTER_COUNT];
            int32_t cfa_value;
            int32_t value[RT_REGISTER_COUNT];
        };
        uint64_t words[12]; /* the whole, to be copied */
    };
};
_Static_assert(sizeof(struct rt_cfi_row) == 12 * 8, "copied in words");

enum rt_cfi_found {
    RT_CFI_NONE, /* no entry for this instruction */
    RT_CFI_ROW,
    RT_CFI_BAD,
};

/* The row of the instruction at pc. */
RT_HIDDEN enum rt_cfi_found rt_cfi_find(const struct rt_cfi_tables *t, uintptr_t pc,
                                        struct rt_cfi_row *row);

/* How rows reach memory: gives false for what must not be read. */
struct rt_cfi_memory {
    bool (*read)(struct rt_cfi_memory *memory, uintptr_t address, unsigned size, uint64_t *value);
};

enum rt_cfi_step {
    RT_CFI_STEPPED,
    RT_CFI_OUTERMOST, /* the function has no caller */
    RT_CFI_LACKING,   /* a register was needed whose value is not known */
    RT_CFI_FAILED,
};

/* The registers of the caller. */
RT_HIDDEN enum rt_cfi_step rt_cfi_apply(const struct rt_cfi_tables *t, const struct rt_cfi_row *row,
                                        const struct rt_registers *callee,
                                        struct rt_cfi_memory *memory, struct rt_registers *caller);

/* The value of the expression (a length and its operations) at `position` of the tables, with
 * `*start` on its stack if given (cfi_expression.c). */
RT_HIDDEN enum rt_cfi_step rt_cfi_evaluate(const struct rt_cfi_tables *t, uint32_t position,
                                           const struct rt_registers *r,
                                           struct rt_cfi_memory *memory, const uint64_t *start,
                                           uint64_t *value);

#endif
