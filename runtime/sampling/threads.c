/* SPDX-License-Identifier: Apache-2.0 */
/* What samplers keep of each thread: see threads.h. */
#include "sampling/threads.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "keys.h"
#include "sys.h"

enum { MOST_THREADS = 1024, MOST_VISITS = 64, MOST_IMAGES = 64 };

_Thread_local struct rt_sampled *__rh_sampled;

enum place_state { PLACE_FREE, PLACE_TAKEN, PLACE_LIVE };

/* Never given back, only taken over. */
static struct place {
    _Atomic uint32_t state; /* enum place_state */
    uint32_t id;
    struct rt_sampled *_Atomic thread;
} places[MOST_THREADS];
static _Atomic uint32_t places_end;

/* --- threads --- */

/* Forgets all calls; the pages are zero again when they are used. */
static void reset(struct rt_sampled *thread)
{
    struct rt_pair_map *map = thread->map;
    rt_arch_syscall(SYS_madvise, (long)thread, sizeof *thread, MADV_DONTNEED, 0, 0, 0);
    thread->map = map;
}

static struct rt_sampled *make(bool has_pairs)
{
    struct rt_sampled *thread = rt_map(sizeof *thread);
    if (thread && has_pairs) {
        thread->map = rt_map(sizeof *thread->map);
        if (!thread->map) {
            rt_unmap(thread, sizeof *thread);
            thread = NULL;
        }
    }
    return thread;
}

static struct place *take_place(void)
{
    for (uint32_t i = 0; i < MOST_THREADS; i++) {
        uint32_t expected = PLACE_FREE;
        if (!atomic_compare_exchange_strong(&places[i].state, &expected, PLACE_TAKEN))
            continue;
        uint32_t end = atomic_load(&places_end);
        while (end <= i && !atomic_compare_exchange_weak(&places_end, &end, i + 1))
            continue;
        return &places[i];
    }
    return NULL;
}

void rt_sampled_begin(uint32_t id, bool has_pairs)
{
    struct place *place = take_place();
    if (!place)
        return;
    struct rt_sampled *thread = atomic_load(&place->thread);
    if (thread)
        reset(thread);
    else
        thread = make(has_pairs);
    if (!thread) {
        atomic_store(&place->state, PLACE_FREE);
        return;
    }
    place->id = id;
    atomic_store(&place->thread, thread);
    atomic_store(&place->state, PLACE_LIVE);
    __rh_sampled = thread;
}

static bool is_live(const struct place *place)
{
    return atomic_load_explicit(&place->state, memory_order_acquire) == PLACE_LIVE;
}

void rt_sampled_end(uint32_t id)
{
    for (uint32_t i = 0; i < atomic_load(&places_end); i++) {
        struct rt_sampled *thread = atomic_load(&places[i].thread);
        if (!is_live(&places[i]) || places[i].id != id)
            continue;
        if (thread->map)
            rt_pairs_tell(thread->map);
        atomic_store(&places[i].state, PLACE_FREE);
        return;
    }
}

/* The other threads are the parent's, and so is what they have seen. */
void rt_sampled_after_fork(void)
{
    for (uint32_t i = 0; i < atomic_load(&places_end); i++) {
        struct rt_sampled *thread = atomic_load(&places[i].thread);
        if (thread && thread->map)
            rt_pairs_forget_untold(thread->map);
        if (thread != __rh_sampled)
            atomic_store(&places[i].state, PLACE_FREE);
    }
}

void rt_sampled_tell(void)
{
    for (uint32_t i = 0; i < atomic_load(&places_end); i++) {
        struct rt_sampled *thread = atomic_load(&places[i].thread);
        if (is_live(&places[i]) && thread->map)
            rt_pairs_tell(thread->map);
    }
}

void rt_sampled_each(struct rt_sampled *self,
                     void (*visit)(struct rt_sampled *other, uint32_t function, void *arg),
                     void *arg)
{
    uint32_t end = atomic_load_explicit(&places_end, memory_order_acquire);
    uint32_t count = end < MOST_VISITS ? end : MOST_VISITS;
    for (uint32_t i = 0; i < count; i++) {
        const struct place *place = &places[(self->turn + i) % end];
        struct rt_sampled *other = atomic_load_explicit(&place->thread, memory_order_relaxed);
        if (!is_live(place) || other == self)
            continue;
        uint32_t function = atomic_load_explicit(&other->shared.current, memory_order_relaxed);
        if (function)
            visit(other, function, arg);
    }
    if (end > MOST_VISITS)
        self->turn = (self->turn + MOST_VISITS) % end;
}

/* --- functions --- */

/* An image that comes back has the same numbers. */
void rt_sampled_image(struct rt_image *r)
{
    static _Atomic uint32_t next = 1;
    static _Atomic uint32_t bases[MOST_IMAGES]; /* first number */
    struct rh_image *image = r->image;
    uint32_t count = image->counts[4], first = 0;
    if (r->number < MOST_IMAGES)
        first = atomic_load(&bases[r->number]);
    if (!first)
        first = atomic_fetch_add(&next, count);
    if (r->number < MOST_IMAGES)
        atomic_store(&bases[r->number], first);
    image->function_base = first - 1;
    for (uint32_t i = 0; i < count; i++)
        rt_pairs_name(first + i, image->functions[i]);
}
