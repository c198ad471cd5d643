/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of the detectors' parts: threads that are only structs, the few functions of the
 * runtime that the parts call, and random numbers. Included once by a test, which also includes the
 * file that it tests.
 */
#ifndef RH_RUNTIME_DETECT_FAKES_TEST_H
#define RH_RUNTIME_DETECT_FAKES_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "state.h"

enum { FAKES = 16 };

static struct rt_thread fakes[FAKES];
static struct rt_state fake_states[FAKES];

/* Threads that have not begun. */
static inline void clear_fakes(uint32_t first, uint32_t count)
{
    memset(&fakes[first], 0, count * sizeof *fakes);
    memset(&fake_states[first], 0, count * sizeof *fake_states);
    for (uint32_t i = first; i < first + count; i++)
        fakes[i].detector = &fake_states[i];
}

_Atomic uint32_t rt_sync_live, rt_memory_live;

void rt_sync_need(void)
{
    atomic_fetch_add(&rt_sync_live, 1);
}

void rt_sync_done(void)
{
    atomic_fetch_sub(&rt_sync_live, 1);
}

void rt_thread_each(bool (*visit)(struct rt_thread *, void *), void *arg)
{
    for (int i = 0; i < FAKES; i++)
        if (atomic_load(&fakes[i].state) != RT_THREAD_FREE && !visit(&fakes[i], arg))
            return;
}

/* Only fakes run: there is always another. */
bool rt_thread_is_alone(void)
{
    return false;
}

/* Without a stack; the site tells accesses apart. */
void rt_witness_take(const struct rt_thread *self, const struct rt_access *a, struct rt_witness *w)
{
    w->site = (struct rh_site_name){.site = a->site};
    w->thread = self->id;
    w->parent = self->parent;
    w->address = a->address;
    w->size = a->size;
    w->frame_count = w->lock_count = 0;
}

/* xorshift: a failure can be repeated by its seed. */
static inline uint64_t draw(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random * 0x2545f4914f6cdd1dull >> 16;
}

static inline uint32_t draw_below(uint64_t *random, uint32_t limit)
{
    return (uint32_t)(draw(random) % limit);
}

static inline uint64_t seed_of(uint64_t number)
{
    return (number + 1) * 0x9e3779b97f4a7c15ull;
}

#endif
