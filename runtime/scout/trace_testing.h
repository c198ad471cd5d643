/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of the scout: random executions of threads that synchronise in every way the runtime
 * knows, and a reference that says of each two accesses whether one happens before the other.
 *
 * Each execution is possible: a mutex is locked only when it is free, a waiter wakes only when it
 * was signalled, an atomic reads what was stored last. The reference has a full vector clock for
 * each object and each thread of the execution, follows everything from the first step to the last,
 * and has the rules of C17 for atomics and fences, word by word.
 *
 * The test that includes this is told of every step by the functions declared below, in the order
 * and at the moments at which the runtime's hooks would be.
 */
#ifndef RH_RUNTIME_SCOUT_TRACE_TESTING_H
#define RH_RUNTIME_SCOUT_TRACE_TESTING_H

#include "detect/fakes_testing.h"
#include "scout/sync_rules.h"

#include <string.h>

enum {
    LIVES = 40, /* threads in one execution, one after the other and at once */
    ACTORS = 8, /* at once */
    MUTEXES = 4,
    RWLOCKS = 2,
    CONDITIONS = 2,
    BARRIERS = 2,
    CHANNELS = 6,
    BLOCKS = 4,
    BLOCK_SIZE = 32,
    ATOMIC_SIZE = 16, /* at the start of a block */
    WORD = 4,         /* atomics are of one, two or four words */
    WORDS = ATOMIC_SIZE / WORD,
    STEPS = 2000,
};

struct clock {
    uint32_t at[LIVES];
};

struct barrier {
    struct clock phases[2];
    uint32_t count, arrived, inside;
    bool is_odd;
};

/* A thread. It may wait in a barrier or for a condition, or be in the middle of an atomic. */
struct actor {
    struct rt_thread *fake;
    uint32_t life; /* its id and its place in clocks; 0: none */
    struct clock now, released, pending, created;
    struct barrier *inside;
    bool may_leave, is_odd;
    struct condition *awaits;
    bool is_woken;
    uint32_t mutex; /* that it waits with */
    struct rt_access atomic;
    bool is_in_atomic, has_done_atomic;
};

struct mutex {
    struct clock clock;
    uint32_t owner;
};

struct rwlock {
    struct clock readers, writers;
    uint32_t writer, reading; /* a life; a bit for each actor */
};

struct condition {
    struct clock clock;
};

/* A semaphore, a channel of the kernel, an annotated object. */
struct channel {
    struct clock clock;
    uint32_t count;
};

/* The release sequences that the value of a word belongs to, by the thread at their head. */
struct word {
    uint32_t count;
    uint32_t heads[LIVES];
    struct clock clocks[LIVES];
};

struct block {
    struct word words[WORDS];
    struct clock once;
    uint32_t generation; /* counts up when it is given back */
    bool is_once_done;
};

/* An access; its number is its site. */
struct access {
    uint32_t life, time, generation, window;
    uintptr_t address;
    uint32_t size;
    bool is_write, is_atomic;
    bool is_ahead; /* an atomic that was announced and has not happened yet */
};

struct world {
    uint64_t random;
    uint32_t number, step, step_count;
    bool shares_slots;
    uint32_t weights[16]; /* of the kinds of steps */
    uint32_t actor_count;
    struct actor actors[ACTORS];
    struct mutex mutexes[MUTEXES];
    struct rwlock rwlocks[RWLOCKS];
    struct condition conditions[CONDITIONS];
    struct barrier barriers[BARRIERS];
    struct channel channels[CHANNELS];
    struct block blocks[BLOCKS];
    uint32_t last_life, last_site;
    struct access accesses[STEPS + 2];
};

/* --- what the test does with it --- */

static void tell_entered(struct actor *a); /* its struct has been taken for a new thread */
static void tell_begin(struct actor *a);
static void tell_sync(struct actor *a, enum rt_sync what, uintptr_t object);
/* Before an access; after an atomic or fence that may acquire. */
static void tell_before(struct world *w, struct actor *a, const struct rt_access *x);
static void tell_after(struct world *w, struct actor *a, const struct rt_access *x);
/* A block is given back by this access to all of it. */
static void tell_gone(struct world *w, struct actor *a, const struct rt_access *x);
/* The window that is open, or 0. */
static uint32_t window_now(void);

#define CHECK(w, condition)                                                                        \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("trace %u, step %u: %s", (w)->number, (w)->step, #condition);                 \
    } while (0)

static uint32_t pick(struct world *w, uint32_t limit)
{
    return draw_below(&w->random, limit);
}

/* --- clocks --- */

static uint32_t lives; /* of the present execution, for speed */

static void learn(struct clock *into, const struct clock *from)
{
    for (uint32_t i = 1; i <= lives; i++)
        if (into->at[i] < from->at[i])
            into->at[i] = from->at[i];
}

static bool knows(const struct clock *clock, const struct access *x)
{
    return clock->at[x->life] >= x->time;
}

/* --- threads --- */

static uint32_t state_of(const struct actor *a)
{
    return a->life ? atomic_load(&a->fake->state) : RT_THREAD_FREE;
}

static bool is_free(const struct actor *a)
{
    return state_of(a) == RT_THREAD_RUNNING && !a->inside && !a->awaits;
}

/* Nobody stops unless others go on. */
static bool may_stop(const struct world *w)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->actor_count; i++)
        count += is_free(&w->actors[i]);
    return count > 2 || (count == 2 && w->actor_count == 2);
}

static struct actor *any_in(struct world *w, uint32_t state)
{
    uint32_t start = pick(w, w->actor_count);
    for (uint32_t i = 0; i < w->actor_count; i++) {
        struct actor *a = &w->actors[(start + i) % w->actor_count];
        if (state == RT_THREAD_RUNNING ? is_free(a) : state_of(a) == state)
            return a;
    }
    return NULL;
}

static uintptr_t thread_object(const struct actor *a)
{
    return (uintptr_t)rt_thread_object(a->life);
}

/* What thread.c does when it enters a thread. Slots are shared by numbers that are equal modulo
 * their count. */
static bool enter(struct world *w, struct actor *a)
{
    uint32_t index = (uint32_t)(a - w->actors);
    struct rt_thread *fake = &fakes[index];
    if (w->last_life + 1 >= LIVES)
        return false;
    memset(a, 0, sizeof *a);
    memset(fake, 0, sizeof *fake);
    a->fake = fake;
    a->life = fake->id = lives = ++w->last_life;
    fake->slot = w->shares_slots ? index % 3 + index / 3 * RT_CLOCK_SLOTS : index;
    atomic_store(&fake->state, RT_THREAD_STARTING);
    tell_entered(a);
    return true;
}

static void create(struct world *w, struct actor *a)
{
    struct actor *new = any_in(w, RT_THREAD_FREE);
    if (!new || !enter(w, new))
        return;
    tell_sync(a, RT_SYNC_THREAD_CREATE, thread_object(new));
    learn(&new->created, &a->now);
}

static void begin(struct world *w, struct actor *a)
{
    struct actor *new = any_in(w, RT_THREAD_STARTING);
    (void)a;
    if (!new)
        return;
    atomic_store(&new->fake->state, RT_THREAD_RUNNING);
    tell_begin(new);
    tell_sync(new, RT_SYNC_THREAD_BEGIN, thread_object(new));
    learn(&new->now, &new->created);
}

static bool holds_something(const struct world *w, const struct actor *a)
{
    bool holds = false;
    for (uint32_t i = 0; i < MUTEXES; i++)
        holds |= w->mutexes[i].owner == a->life;
    for (uint32_t i = 0; i < RWLOCKS; i++)
        holds |= w->rwlocks[i].writer == a->life || w->rwlocks[i].reading >> (a - w->actors) & 1;
    return holds;
}

static void end(struct world *w, struct actor *a)
{
    if (pick(w, 2) || !may_stop(w) || holds_something(w, a))
        return;
    tell_sync(a, RT_SYNC_THREAD_END, thread_object(a));
    atomic_store(&a->fake->state, RT_THREAD_ENDED);
}

/* The joiner announces the end once more. A detached thread is never heard of again. */
static void join_thread(struct world *w, struct actor *a)
{
    struct actor *gone = any_in(w, RT_THREAD_ENDED);
    if (!gone)
        return;
    if (pick(w, 4)) {
        tell_sync(gone, RT_SYNC_THREAD_END, thread_object(gone));
        tell_sync(a, RT_SYNC_THREAD_JOIN, thread_object(gone));
        learn(&a->now, &gone->now);
    }
    atomic_store(&gone->fake->state, RT_THREAD_FREE);
    gone->life = 0;
}

/* Not to one that is between an announced atomic and the atomic: what it stores is chosen. */
static bool is_unready(const struct world *w)
{
    bool is_unready = false;
    for (uint32_t i = 0; i < w->actor_count; i++)
        is_unready |= w->actors[i].is_in_atomic && !w->actors[i].has_done_atomic;
    return is_unready;
}

static void send_signal_to(struct world *w, struct actor *a)
{
    struct actor *target = pick(w, 4) ? &w->actors[pick(w, w->actor_count)] : NULL;
    if (is_unready(w) || (target && !target->life))
        return;
    tell_sync(a, RT_SYNC_SIGNAL_SEND, target ? thread_object(target) : 0);
    for (uint32_t i = 0; i < w->actor_count; i++)
        if (w->actors[i].life && (!target || target == &w->actors[i]))
            learn(&w->actors[i].now, &a->now);
}

/* --- locks --- */

enum place {
    AT_MUTEXES = 0x100000,
    AT_RWLOCKS,
    AT_CONDITIONS,
    AT_BARRIERS,
    AT_CHANNELS,
    AT_BLOCKS
};

static uintptr_t object_at(enum place place, uintptr_t offset)
{
    return (uintptr_t)place * 0x10000 + offset;
}

static uintptr_t mutex_at(uint32_t index)
{
    return object_at(AT_MUTEXES, index * 40);
}

static void lock(struct world *w, struct actor *a, uint32_t index)
{
    w->mutexes[index].owner = a->life;
    learn(&a->now, &w->mutexes[index].clock);
    tell_sync(a, index % 2 ? RT_SYNC_SPIN_LOCK : RT_SYNC_MUTEX_LOCK, mutex_at(index));
}

static void unlock(struct world *w, struct actor *a, uint32_t index)
{
    tell_sync(a, index % 2 ? RT_SYNC_SPIN_UNLOCK : RT_SYNC_MUTEX_UNLOCK, mutex_at(index));
    learn(&w->mutexes[index].clock, &a->now);
    w->mutexes[index].owner = 0;
}

static void use_mutex(struct world *w, struct actor *a)
{
    uint32_t index = pick(w, MUTEXES);
    if (!w->mutexes[index].owner)
        lock(w, a, index);
    else if (w->mutexes[index].owner == a->life)
        unlock(w, a, index);
}

static void use_rwlock(struct world *w, struct actor *a)
{
    uint32_t index = pick(w, RWLOCKS), bit = 1u << (a - w->actors);
    struct rwlock *l = &w->rwlocks[index];
    uintptr_t at = object_at(AT_RWLOCKS, index * 56);
    if (l->writer == a->life) {
        tell_sync(a, RT_SYNC_RWLOCK_WRITE_UNLOCK, at);
        learn(&l->writers, &a->now);
        l->writer = 0;
    } else if (l->reading & bit) {
        tell_sync(a, RT_SYNC_RWLOCK_READ_UNLOCK, at);
        learn(&l->readers, &a->now);
        l->reading &= ~bit;
    } else if (!l->writer && !l->reading && pick(w, 2)) {
        l->writer = a->life;
        learn(&a->now, &l->writers);
        learn(&a->now, &l->readers);
        tell_sync(a, RT_SYNC_RWLOCK_WRITE, at);
    } else if (!l->writer) {
        l->reading |= bit;
        learn(&a->now, &l->writers);
        tell_sync(a, RT_SYNC_RWLOCK_READ, at);
    }
}

/* --- waiting --- */

static uintptr_t condition_at(const struct world *w, const struct condition *c)
{
    return object_at(AT_CONDITIONS, (uintptr_t)(c - w->conditions) * 48);
}

static void await(struct world *w, struct actor *a)
{
    uint32_t index = pick(w, MUTEXES / 2) * 2; /* spin locks have no conditions */
    if (w->mutexes[index].owner != a->life || !may_stop(w))
        return;
    a->awaits = &w->conditions[pick(w, CONDITIONS)];
    a->is_woken = false;
    a->mutex = index;
    unlock(w, a, index);
}

static void signal_condition(struct world *w, struct actor *a)
{
    struct condition *c = &w->conditions[pick(w, CONDITIONS)];
    tell_sync(a, RT_SYNC_COND_SIGNAL, condition_at(w, c));
    learn(&c->clock, &a->now);
    for (uint32_t i = 0; i < w->actor_count; i++)
        if (w->actors[i].awaits == c && pick(w, 2))
            w->actors[i].is_woken = true;
}

static void wake_some(struct world *w)
{
    for (uint32_t i = 0; i < w->actor_count; i++) {
        struct actor *a = &w->actors[i];
        if (!a->life || !a->awaits || !a->is_woken || w->mutexes[a->mutex].owner || pick(w, 2))
            continue;
        learn(&a->now, &a->awaits->clock);
        tell_sync(a, RT_SYNC_COND_WAKE, condition_at(w, a->awaits));
        a->awaits = NULL;
        lock(w, a, a->mutex);
    }
}

/* The two phases of a barrier are two objects. */
static uintptr_t phase_at(const struct world *w, const struct barrier *b, bool is_odd)
{
    return object_at(AT_BARRIERS, (uintptr_t)(b - w->barriers) * 32 + (is_odd ? 8 : 0));
}

static void open_barrier(struct world *w, struct barrier *b)
{
    for (uint32_t i = 0; i < w->actor_count; i++)
        if (w->actors[i].inside == b && w->actors[i].is_odd == b->is_odd)
            w->actors[i].may_leave = true;
    b->arrived = 0;
    b->is_odd = !b->is_odd;
}

static void arrive(struct world *w, struct actor *a)
{
    struct barrier *b = &w->barriers[pick(w, BARRIERS)];
    if (b->inside == b->count || (b->arrived + 1 < b->count && !may_stop(w)))
        return;
    tell_sync(a, RT_SYNC_BARRIER_ARRIVE, phase_at(w, b, b->is_odd));
    learn(&b->phases[b->is_odd], &a->now);
    a->inside = b;
    a->may_leave = false;
    a->is_odd = b->is_odd;
    b->inside++;
    if (++b->arrived == b->count)
        open_barrier(w, b);
}

static void leave_some(struct world *w)
{
    for (uint32_t i = 0; i < w->actor_count; i++) {
        struct actor *a = &w->actors[i];
        if (!a->life || !a->inside || !a->may_leave || pick(w, 2))
            continue;
        learn(&a->now, &a->inside->phases[a->is_odd]);
        tell_sync(a, RT_SYNC_BARRIER_LEAVE, phase_at(w, a->inside, a->is_odd));
        a->inside->inside--;
        a->inside = NULL;
    }
}

static void use_channel(struct world *w, struct actor *a)
{
    static const struct {
        enum rt_sync gives, takes;
    } kinds[] = {
        {RT_SYNC_SEM_POST, RT_SYNC_SEM_WAIT},
        {RT_SYNC_KERNEL_SEND, RT_SYNC_KERNEL_RECEIVE},
        {RT_SYNC_ANNOTATED_BEFORE, RT_SYNC_ANNOTATED_AFTER},
    };
    uint32_t index = pick(w, CHANNELS), kind = index % 3;
    struct channel *m = &w->channels[index];
    uintptr_t at = object_at(AT_CHANNELS, index * 32);
    if (m->count && pick(w, 2)) {
        m->count--;
        learn(&a->now, &m->clock);
        tell_sync(a, kinds[kind].takes, at);
    } else {
        tell_sync(a, kinds[kind].gives, at);
        learn(&m->clock, &a->now);
        m->count++;
    }
}

#endif
