/* SPDX-License-Identifier: Apache-2.0 */
/* The most recent long accesses: see spans.h. Runs in hooks: no lock that waits, no libc. */
#include "scout/spans.h"

#include "evidence/witness.h"

/* The version is odd while a span is changed; who reads it looks before and after. */
static struct span {
    _Atomic uint32_t version;
    uint32_t window;
    uintptr_t start;
    size_t size; /* 0: there is none */
    struct rt_recent access;
} spans[RT_SPANS];

static _Atomic uint32_t next; /* the oldest, modulo RT_SPANS */
static _Atomic bool is_any;   /* there has been one */

static bool seize(struct span *s)
{
    enum { TRIES = 64 };
    for (int i = 0; i < TRIES; i++) {
        uint32_t version = atomic_load_explicit(&s->version, memory_order_relaxed);
        if (version % 2 == 0 &&
            atomic_compare_exchange_strong_explicit(&s->version, &version, version + 1,
                                                    memory_order_acquire, memory_order_relaxed)) {
            atomic_thread_fence(memory_order_release);
            return true;
        }
        __builtin_ia32_pause();
    }
    return false;
}

static void let_go(struct span *s)
{
    atomic_fetch_add_explicit(&s->version, 1, memory_order_release);
}

/* False if it was being changed. */
static bool copy(const struct span *s, struct span *out)
{
    uint32_t version = atomic_load_explicit(&s->version, memory_order_acquire);
    out->window = s->window;
    out->start = s->start;
    out->size = s->size;
    out->access = s->access;
    atomic_thread_fence(memory_order_acquire);
    return version % 2 == 0 && atomic_load_explicit(&s->version, memory_order_relaxed) == version;
}

/* A thread that comes to the same site again has its span there already, mostly. */
static struct span *choose(const struct rt_recent *access)
{
    for (uint32_t i = 0; i < RT_SPANS; i++)
        if (spans[i].size && spans[i].access.site == access->site &&
            spans[i].access.slot == access->slot)
            return &spans[i];
    return &spans[atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % RT_SPANS];
}

void rt_spans_put(uint32_t window, uintptr_t start, size_t size, const struct rt_recent *access)
{
    struct span *s = choose(access);
    if (!access->epoch || !seize(s))
        return;
    s->window = window;
    s->start = start;
    s->size = size;
    s->access = *access;
    let_go(s);
    atomic_store_explicit(&is_any, true, memory_order_relaxed);
}

static bool conflicts(struct span *s, uintptr_t start, size_t size, const struct rt_recent *access)
{
    s->access.bytes = access->bytes;
    return s->size && rt_overlaps(s->start, s->size, start, size) &&
           rt_recent_conflicts(&s->access, access);
}

uint32_t rt_spans_find(uint32_t window, uintptr_t start, size_t size,
                       const struct rt_recent *access, struct rt_recent others[RT_SPANS],
                       uint32_t *hints)
{
    struct rt_recent earlier[RT_SPANS];
    uint32_t count = 0;
    *hints = 0;
    if (rt_likely(!atomic_load_explicit(&is_any, memory_order_relaxed)))
        return 0;
    for (uint32_t i = 0; i < RT_SPANS; i++) {
        struct span s;
        if (!rt_overlaps(spans[i].start, spans[i].size, start, size) || !copy(&spans[i], &s) ||
            !conflicts(&s, start, size, access))
            continue;
        if (s.window == window)
            others[count++] = s.access;
        else
            earlier[(*hints)++] = s.access;
    }
    for (uint32_t i = 0; i < *hints; i++)
        others[count + i] = earlier[i];
    return count;
}

bool rt_spans_forget(uintptr_t start, size_t size)
{
    bool good = true;
    if (!atomic_load(&is_any))
        return true;
    for (uint32_t i = 0; i < RT_SPANS; i++) {
        if (!rt_overlaps(spans[i].start, spans[i].size, start, size))
            continue;
        if (!seize(&spans[i])) {
            good = false;
            continue;
        }
        if (rt_overlaps(spans[i].start, spans[i].size, start, size))
            spans[i].size = 0;
        let_go(&spans[i]);
    }
    return good;
}
