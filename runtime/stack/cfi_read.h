/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading bytes that may be anything: every read is checked against the end, and the first one that
 * would pass it makes the cursor bad for good and all later values 0.
 */
#ifndef RH_RUNTIME_STACK_CFI_READ_H
#define RH_RUNTIME_STACK_CFI_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rt_cursor {
    const uint8_t *at, *end;
    bool bad;
};

static inline const uint8_t *rt_read_bytes(struct rt_cursor *c, uint64_t size)
{
    if (c->bad || size > (uint64_t)(c->end - c->at)) {
        c->bad = true;
        return NULL;
    }
    const uint8_t *bytes = c->at;
    c->at += size;
    return bytes;
}

static inline uint64_t rt_read_unsigned(struct rt_cursor *c, unsigned size)
{
    const uint8_t *bytes = rt_read_bytes(c, size);
    uint64_t value = 0;
    for (unsigned i = 0; bytes && i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static inline int64_t rt_read_signed(struct rt_cursor *c, unsigned size)
{
    unsigned unused = 64 - 8 * size;
    return (int64_t)(rt_read_unsigned(c, size) << unused) >> unused;
}

/* LEB128: seven bits a byte, the lowest first. Bits beyond the 64th are dropped. */
static inline uint64_t rt_read_leb(struct rt_cursor *c, bool is_signed)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = rt_read_unsigned(c, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (is_signed && byte & 0x40 && shift < 64)
        value |= UINT64_MAX << shift;
    return value;
}

#endif
