/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The references that order_test.c compares happens-before on demand with: threads, objects and
 * atomics with full vector clocks, by two rules. To be included behind order.c.
 */
#ifndef RH_RUNTIME_DETECT_ORDER_TESTING_H
#define RH_RUNTIME_DETECT_ORDER_TESTING_H

#include "detect/fakes_testing.h"

#include <string.h>

enum rule { STRICT, LOOSE, RULES };
enum {
    LIVES = 32, /* threads in one sequence, one after the other and at once */
    ACTORS = 6,
    OBJECTS = 200,
    RWLOCKS = 2,
    BARRIERS = 2,
    ATOMIC_BYTES = 64,
    BLOCKS = 6,
    BLOCK_SIZE = 64,
    STACK_SIZE = 256,
    TASKS = 6,
    STEPS = 400,
};

struct clock {
    uint32_t at[LIVES];
};

/* A thread, as the references see it. */
struct actor {
    struct rt_thread *fake;
    uint32_t life; /* its id and its place in clocks; 0: none */
    struct clock now[RULES], released[RULES], pending[RULES];
    struct clock created[RULES]; /* what its creator knew */
    struct barrier *inside;
    bool leaves;
    bool odd;
    enum { OUTSIDE, ENTERED, HAPPENED } progress; /* of an atomic with two hooks */
    struct rt_access atomic;
    uint32_t atomic_epoch; /* nobody knows it who has not acquired from the atomic */
    uint64_t moment;       /* before the atomic */
};

struct barrier {
    struct clock phases[2][RULES];
    uint32_t count, arrived, inside;
    bool odd;
};

/* Of each byte, what release sequences carry, by the thread at their head. */
struct atomic_byte {
    struct clock by[LIVES];
};

struct world {
    uint64_t random;
    uint32_t sequence, step;
    uintptr_t base; /* all addresses lie at places of this sequence's own */
    uint32_t object_count;
    uint32_t widest; /* atomic, and size of a granule */
    struct actor actors[ACTORS];
    struct clock objects[OBJECTS][RULES];
    struct clock readers[RWLOCKS][RULES], writers[RWLOCKS][RULES];
    struct barrier barriers[BARRIERS];
    struct atomic_byte bytes[ATOMIC_BYTES];
    struct clock granules[ATOMIC_BYTES / 8];
    uint32_t last_life, last_site;
    struct {
        uint32_t life, epoch;
        struct clock known; /* by the strict rule, to the thread that was tracked */
    } sites[STEPS + 1];
    bool may_end; /* the step may end tracks that not everyone has learned of */
};

/* Of all sequences. */
static struct {
    uint64_t tracked, asked, raced, ordered, missed, learned, early, told_learned;
    uint64_t atomics_raced;
    uint64_t late; /* tracks that an atomic is not asked about */
} sums;

static struct world world;

#define CHECK(w, condition)                                                                        \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("sequence %u, step %u: %s", (w)->sequence, (w)->step, #condition);            \
    } while (0)

static uint32_t choose(struct world *w, uint32_t limit)
{
    return draw_below(&w->random, limit);
}

/* --- clocks --- */

static void join(struct clock *into, const struct clock *from)
{
    for (int i = 0; i < LIVES; i++)
        if (into->at[i] < from->at[i])
            into->at[i] = from->at[i];
}

static void join_all(struct clock *into, const struct clock *from)
{
    for (int rule = 0; rule < RULES; rule++)
        join(&into[rule], &from[rule]);
}

static void tick(struct actor *a)
{
    for (int rule = 0; rule < RULES; rule++)
        a->now[rule].at[a->life]++;
}

/* --- actors --- */

static uint32_t state_of(const struct actor *a)
{
    return a->life ? atomic_load(&a->fake->state) : RT_THREAD_FREE;
}

static struct actor *any_in(struct world *w, uint32_t state)
{
    uint32_t start = choose(w, ACTORS);
    for (uint32_t i = 0; i < ACTORS; i++) {
        struct actor *a = &w->actors[(start + i) % ACTORS];
        if (state_of(a) == state && (state != RT_THREAD_RUNNING || (!a->inside && !a->progress)))
            return a;
    }
    return NULL;
}

static uintptr_t stack_of(const struct world *w, const struct actor *a)
{
    return w->base + 0x100000 + (uintptr_t)(a - w->actors) * STACK_SIZE;
}

/* What thread.c does when it enters a thread. */
static bool enter(struct world *w, struct actor *a)
{
    if (w->last_life + 1 >= LIVES)
        return false;
    struct rt_thread *fake = &fakes[a - w->actors];
    memset(a, 0, sizeof *a);
    clear_fakes((uint32_t)(fake - fakes), 1);
    a->fake = fake;
    a->life = fake->id = ++w->last_life;
    fake->slot = (uint32_t)(a - w->actors);
    fake->stack_low = stack_of(w, a);
    fake->stack_high = fake->stack_low + STACK_SIZE;
    atomic_store(&fake->state, RT_THREAD_STARTING);
    tick(a);
    return true;
}

static void sync(struct actor *a, enum rt_sync what, uintptr_t object)
{
    rt_order_sync(a->fake, what, (const volatile void *)object);
}

static uintptr_t thread_object(const struct actor *a)
{
    return (uintptr_t)rt_thread_object(a->life);
}

static void create(struct world *w, struct actor *a)
{
    struct actor *new = any_in(w, RT_THREAD_FREE);
    if (!new || !enter(w, new))
        return;
    sync(a, RT_SYNC_THREAD_CREATE, thread_object(new));
    join_all(new->created, a->now);
}

static void check_untracked(const struct world *w, uintptr_t start, uint64_t size)
{
    for (uint32_t i = 0; i < RT_TRACKS; i++) {
        const struct rt_witness *t = &tracks[i].witness;
        CHECK(w,
              atomic_load(&tracks[i].serial) & 1 || !rt_overlaps(t->address, t->size, start, size));
    }
}

static void begin(struct world *w, struct actor *a)
{
    struct actor *new = any_in(w, RT_THREAD_STARTING);
    (void)a;
    if (!new)
        return;
    w->may_end = true; /* what was tracked on its stack */
    atomic_store(&new->fake->state, RT_THREAD_RUNNING);
    rt_order_thread_begin(new->fake);
    check_untracked(w, stack_of(w, new), STACK_SIZE);
    sync(new, RT_SYNC_THREAD_BEGIN, thread_object(new));
    join_all(new->now, new->created);
}

static void adopt(struct world *w, struct actor *a)
{
    struct actor *new = choose(w, 8) ? NULL : any_in(w, RT_THREAD_FREE);
    (void)a;
    if (!new || !enter(w, new))
        return;
    new->fake->adopted = true;
    atomic_store(&new->fake->state, RT_THREAD_RUNNING);
    rt_order_thread_begin(new->fake);
    for (uint32_t life = 1; life < new->life; life++)
        new->now[LOOSE].at[life] = UINT32_MAX; /* those that are gone */
    for (uint32_t i = 0; i < ACTORS; i++)
        if (w->actors[i].life)
            new->now[LOOSE].at[w->actors[i].life] = w->actors[i].now[LOOSE].at[w->actors[i].life];
}

static void end(struct world *w, struct actor *a)
{
    uint32_t running = 0;
    for (uint32_t i = 0; i < ACTORS; i++)
        running += state_of(&w->actors[i]) == RT_THREAD_RUNNING;
    if (running < 3)
        return;
    sync(a, RT_SYNC_THREAD_END, thread_object(a));
    atomic_store(&a->fake->state, RT_THREAD_ENDED);
}

static void join_thread(struct world *w, struct actor *a)
{
    struct actor *gone = any_in(w, RT_THREAD_ENDED);
    if (!gone)
        return;
    sync(gone, RT_SYNC_THREAD_END, thread_object(gone));
    sync(a, RT_SYNC_THREAD_JOIN, thread_object(gone));
    join_all(a->now, gone->now);
    atomic_store(&gone->fake->state, RT_THREAD_FREE);
    gone->life = 0;
}

static void detach(struct world *w, struct actor *a)
{
    struct actor *gone = any_in(w, RT_THREAD_ENDED);
    (void)a;
    if (gone) {
        atomic_store(&gone->fake->state, RT_THREAD_FREE);
        gone->life = 0;
    }
}

/* --- objects --- */

static const struct {
    enum rt_sync gives, takes;
} pairs[] = {
    {RT_SYNC_MUTEX_UNLOCK, RT_SYNC_MUTEX_LOCK},
    {RT_SYNC_SPIN_UNLOCK, RT_SYNC_SPIN_LOCK},
    {RT_SYNC_COND_SIGNAL, RT_SYNC_COND_WAKE},
    {RT_SYNC_SEM_POST, RT_SYNC_SEM_WAIT},
    {RT_SYNC_OWNER_END, RT_SYNC_OWNER_DIED},
    {RT_SYNC_KERNEL_SEND, RT_SYNC_KERNEL_RECEIVE},
    {RT_SYNC_ANNOTATED_BEFORE, RT_SYNC_ANNOTATED_AFTER},
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static void use_object(struct world *w, struct actor *a)
{
    uint32_t object = choose(w, w->object_count);
    uint32_t kind = object % PAIRS;
    uintptr_t at = w->base + object * 40;
    if (choose(w, 2)) {
        sync(a, pairs[kind].gives, at);
        join_all(w->objects[object], a->now);
    } else {
        sync(a, pairs[kind].takes, at);
        join_all(a->now, w->objects[object]);
    }
}

static void renew_object(struct world *w, struct actor *a)
{
    uintptr_t at = w->base + choose(w, w->object_count) * 40;
    sync(a, choose(w, 2) ? RT_SYNC_OBJECT_INIT : RT_SYNC_OBJECT_DESTROY, at);
}

static void use_rwlock(struct world *w, struct actor *a)
{
    uint32_t lock = choose(w, RWLOCKS);
    uintptr_t at = w->base + 0x10000 + lock * 56;
    switch (choose(w, 4)) {
    case 0:
        sync(a, RT_SYNC_RWLOCK_READ, at);
        join_all(a->now, w->writers[lock]);
        break;
    case 1:
        sync(a, RT_SYNC_RWLOCK_READ_UNLOCK, at);
        join_all(w->readers[lock], a->now);
        break;
    case 2:
        sync(a, RT_SYNC_RWLOCK_WRITE, at);
        join_all(a->now, w->writers[lock]);
        join_all(a->now, w->readers[lock]);
        break;
    default:
        sync(a, RT_SYNC_RWLOCK_WRITE_UNLOCK, at);
        join_all(w->writers[lock], a->now);
        break;
    }
}

/* The two phases of a barrier are two objects. */
static uintptr_t phase_object(const struct world *w, const struct barrier *b, bool odd)
{
    return w->base + 0x20000 + (uintptr_t)(b - w->barriers) * 32 + (odd ? 8 : 0);
}

static void leave(struct world *w, struct actor *a)
{
    struct barrier *b = a->inside;
    sync(a, RT_SYNC_BARRIER_LEAVE, phase_object(w, b, a->odd));
    join_all(a->now, b->phases[a->odd]);
    a->inside = NULL;
    b->inside--;
}

static void let_go(struct world *w, struct barrier *b)
{
    for (uint32_t i = 0; i < ACTORS; i++)
        if (w->actors[i].inside == b && w->actors[i].odd == b->odd)
            w->actors[i].leaves = true;
    b->arrived = 0;
    b->odd = !b->odd;
}

static void arrive(struct world *w, struct actor *a)
{
    struct barrier *b = &w->barriers[choose(w, BARRIERS)];
    if (b->inside == b->count)
        return;
    sync(a, RT_SYNC_BARRIER_ARRIVE, phase_object(w, b, b->odd));
    join_all(b->phases[b->odd], a->now);
    a->inside = b;
    a->leaves = false;
    a->odd = b->odd;
    b->inside++;
    if (++b->arrived == b->count)
        let_go(w, b);
}

static void leave_some(struct world *w, struct actor *a)
{
    (void)a;
    for (uint32_t i = 0; i < ACTORS; i++) {
        struct actor *other = &w->actors[i];
        if (other->life && other->inside && other->leaves && choose(w, 2))
            leave(w, other);
    }
}

/* Not to one that has entered an atomic which has not happened: what it gives is chosen. */
static bool is_unready(const struct world *w)
{
    bool is_unready = false;
    for (uint32_t i = 0; i < ACTORS; i++)
        is_unready |= w->actors[i].life && w->actors[i].progress == ENTERED;
    return is_unready;
}

static void send(struct world *w, struct actor *a)
{
    struct actor *target = choose(w, 4) ? &w->actors[choose(w, ACTORS)] : NULL;
    if (choose(w, 8) || is_unready(w) || (target && !target->life))
        return;
    sync(a, RT_SYNC_SIGNAL_SEND, target ? thread_object(target) : 0);
    for (uint32_t i = 0; i < ACTORS; i++)
        if (w->actors[i].life && (!target || target == &w->actors[i]))
            join_all(w->actors[i].now, a->now);
}

/* --- atomics --- */

static struct rt_access atomic_at(struct world *w, uint32_t at, uint32_t size, uint8_t kind,
                                  uint8_t order)
{
    return (struct rt_access){
        .address = w->base + 0x30000 + at, .size = size, .kind = kind, .order = order};
}

static void load_bytes(struct world *w, uint32_t at, uint32_t size, struct clock *into)
{
    for (uint32_t i = at; i < at + size; i++)
        for (uint32_t life = 1; life <= w->last_life; life++)
            join(into, &w->bytes[i].by[life]);
}

/* A plain store ends the release sequences of all other threads; an update ends none. */
static void store_bytes(struct world *w, const struct actor *a, uint32_t at, uint32_t size,
                        const struct clock *what, bool is_update)
{
    for (uint32_t i = at; i < at + size; i++) {
        for (uint32_t life = 1; life <= w->last_life && !is_update; life++)
            if (life != a->life)
                memset(&w->bytes[i].by[life], 0, sizeof w->bytes[i].by[life]);
        join(&w->bytes[i].by[a->life], what);
    }
}

static uint32_t place_of(const struct world *w, const struct rt_access *access)
{
    return (uint32_t)(access->address - w->base - 0x30000);
}

/* The strict rule applies when the atomic happens, the loose one when its hooks run. */
static void enter_atomic(struct world *w, struct actor *a, const struct rt_access *access)
{
    bool is_release = rt_order_releases(access->order);
    tick(a);
    a->atomic = *access;
    a->atomic_epoch = a->now[STRICT].at[a->life];
    a->moment = atomic_load(&rt_moment);
    a->progress = ENTERED;
    rt_order_before(a->fake, access);
    if (access->kind != RH_ACCESS_ATOMIC_READ)
        join(&w->granules[place_of(w, access) / w->widest],
             is_release ? &a->now[LOOSE] : &a->released[LOOSE]);
}

static void do_atomic(struct world *w, struct actor *a)
{
    const struct rt_access *access = &a->atomic;
    uint32_t at = place_of(w, access), size = (uint32_t)access->size;
    if (access->kind != RH_ACCESS_ATOMIC_WRITE)
        load_bytes(w, at, size,
                   rt_order_acquires(access->order) ? &a->now[STRICT] : &a->pending[STRICT]);
    if (access->kind != RH_ACCESS_ATOMIC_READ)
        store_bytes(w, a, at, size,
                    rt_order_releases(access->order) ? &a->now[STRICT] : &a->released[STRICT],
                    access->kind == RH_ACCESS_ATOMIC_UPDATE);
    a->progress = access->kind == RH_ACCESS_ATOMIC_WRITE ? OUTSIDE : HAPPENED;
}

static void leave_atomic(struct world *w, struct actor *a)
{
    const struct rt_access *access = &a->atomic;
    rt_order_after(a->fake, access);
    join(rt_order_acquires(access->order) ? &a->now[LOOSE] : &a->pending[LOOSE],
         &w->granules[place_of(w, access) / w->widest]);
    a->progress = OUTSIDE;
}

/* The atomic, and the hook after it, come in later steps. */
static void use_atomic(struct world *w, struct actor *a)
{
    static const uint8_t orders[3][5] = {
        {RH_MO_UNORDERED, RH_MO_RELAXED, RH_MO_ACQUIRE, RH_MO_SEQ_CST, RH_MO_ACQUIRE},
        {RH_MO_UNORDERED, RH_MO_RELAXED, RH_MO_RELEASE, RH_MO_SEQ_CST, RH_MO_RELEASE},
        {RH_MO_RELAXED, RH_MO_ACQUIRE, RH_MO_RELEASE, RH_MO_ACQ_REL, RH_MO_SEQ_CST},
    };
    uint32_t kind = choose(w, 3), size = w->widest >> choose(w, 4);
    uint32_t at = choose(w, ATOMIC_BYTES / size) * size;
    struct rt_access access =
        atomic_at(w, at, size, (uint8_t)(RH_ACCESS_ATOMIC_READ + kind), orders[kind][choose(w, 5)]);
    enter_atomic(w, a, &access);
}

static struct actor *any_in_atomic(struct world *w)
{
    uint32_t start = choose(w, ACTORS);
    for (uint32_t i = 0; i < ACTORS; i++) {
        struct actor *a = &w->actors[(start + i) % ACTORS];
        if (a->life && a->progress)
            return a;
    }
    return NULL;
}

static void fence(struct world *w, struct actor *a)
{
    static const uint8_t orders[] = {RH_MO_ACQUIRE, RH_MO_RELEASE, RH_MO_ACQ_REL, RH_MO_SEQ_CST};
    uint8_t order = orders[choose(w, 4)];
    struct rt_access access = {.kind = RH_ACCESS_FENCE, .order = order};
    rt_order_before(a->fake, &access);
    if (rt_order_acquires(order)) {
        join_all(a->now, a->pending);
        rt_order_after(a->fake, &access);
    }
    if (rt_order_releases(order))
        memcpy(a->released, a->now, sizeof a->now);
}

/* What is an atomic in one place may be the object of a once in another. */
static void use_once(struct world *w, struct actor *a)
{
    uint32_t at = choose(w, ATOMIC_BYTES / 8) * 8 + choose(w, 2);
    uintptr_t object = w->base + 0x30000 + at;
    if (choose(w, 2)) {
        sync(a, RT_SYNC_ONCE_DONE, object);
        store_bytes(w, a, at, 1, &a->now[STRICT], true);
        join(&w->granules[at / w->widest], &a->now[LOOSE]);
    } else {
        sync(a, RT_SYNC_ONCE_PASS, object);
        load_bytes(w, at, 1, &a->now[STRICT]);
        join(&a->now[LOOSE], &w->granules[at / w->widest]);
    }
}

#endif
