/* SPDX-License-Identifier: Apache-2.0 */
/* What is remembered of an access, which may turn out to be one half of a finding (findings.h). */
#ifndef RH_RUNTIME_WITNESS_H
#define RH_RUNTIME_WITNESS_H

#include "racehive/control.h"
#include "rt.h"

struct rt_witness {
    struct rh_site_name site;
    uint32_t thread, parent;
    uintptr_t address;
    uint64_t size;
    uint32_t frame_count;
    uint32_t lock_count;
    uintptr_t frames[RH_MAX_FRAMES];
    uintptr_t locks[RH_MAX_LOCKS];
};

/* Takes down who accesses what from where. */
RT_HIDDEN void rt_witness_take(const struct rt_thread *self, const struct rt_access *a,
                               struct rt_witness *w);

/* Word by word: the compiler would make a call of memcpy out of anything plainer, and what is
 * copied may change meanwhile. */
static inline void rt_witness_copy(struct rt_witness *to, const struct rt_witness *from)
{
    volatile uint64_t *into = (volatile uint64_t *)to;
    const volatile uint64_t *out_of = (const volatile uint64_t *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *into; i++)
        into[i] = out_of[i];
}
_Static_assert(sizeof(struct rt_witness) % sizeof(uint64_t) == 0, "copied by words");

/* An access of no bytes, such as a copy of length 0, overlaps nothing. */
static inline bool rt_overlaps(uintptr_t a, uint64_t a_size, uintptr_t b, uint64_t b_size)
{
    return a < b ? b_size && b - a < a_size : a_size && a - b < b_size;
}

#endif
