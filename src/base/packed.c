/* SPDX-License-Identifier: Apache-2.0 */
/* Packs and unpacks rising sequences of numbers: see packed.h. */
#include "base/packed.h"

static void add_varint(struct rh_strbuf *out, uint32_t value)
{
    for (; value >= 0x80; value >>= 7)
        rh_strbuf_addc(out, (char)(value | 0x80));
    rh_strbuf_addc(out, (char)value);
}

void rh_packed_add(struct rh_strbuf *out, const uint32_t *numbers, size_t count)
{
    uint32_t end = 0; /* of the run before */
    for (size_t i = 0; i < count;) {
        size_t last = i;
        while (last + 1 < count && numbers[last + 1] == numbers[last] + 1)
            last++;
        add_varint(out, numbers[i] - end);
        add_varint(out, numbers[last] - numbers[i]);
        end = numbers[last] + 1;
        i = last + 1;
    }
}

/* False at the end, and where no number of 32 bits stands. */
static bool take_varint(struct rh_packed_walk *walk, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 35 && walk->at < walk->end; shift += 7) {
        unsigned char byte = *walk->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return *value <= UINT32_MAX;
    }
    return false;
}

bool rh_packed_is_sound(const void *bytes, size_t len, uint32_t low, uint32_t limit)
{
    struct rh_packed_walk walk = rh_packed_walk(bytes, len);
    uint64_t end = 0, gap, more;
    while (walk.at < walk.end) {
        bool first = walk.at == (const unsigned char *)bytes;
        if (!take_varint(&walk, &gap) || !take_varint(&walk, &more))
            return false;
        uint64_t start = end + gap;
        end = start + more + 1;
        /* Runs that touch would have been one. */
        if (start < low || end > limit || (!first && gap == 0))
            return false;
    }
    return len > 0;
}

struct rh_packed_walk rh_packed_walk(const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    return (struct rh_packed_walk){at, at + len, 0, 0};
}

static bool start_run(struct rh_packed_walk *walk)
{
    uint64_t gap, more;
    if (walk->at == walk->end || !take_varint(walk, &gap) || !take_varint(walk, &more))
        return false;
    walk->next += (uint32_t)gap;
    walk->left = (uint32_t)more + 1;
    return true;
}

bool rh_packed_next(struct rh_packed_walk *walk, uint32_t *number)
{
    if (walk->left == 0 && !start_run(walk))
        return false;
    *number = walk->next++;
    walk->left--;
    return true;
}

bool rh_packed_has(const void *bytes, size_t len, uint32_t number)
{
    struct rh_packed_walk walk = rh_packed_walk(bytes, len);
    while (start_run(&walk)) {
        if (number < walk.next)
            return false;
        if (number - walk.next < walk.left)
            return true;
        walk.next += walk.left;
    }
    return false;
}
