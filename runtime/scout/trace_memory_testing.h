/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second half of trace_testing.h: accesses to memory, atomics and fences, and the choice of
 * steps. Blocks of memory are few, so that accesses meet; each begins with sixteen bytes that are
 * used as atomics of different sizes, as the object of a once, and as plain memory.
 */
#ifndef RH_RUNTIME_SCOUT_TRACE_MEMORY_TESTING_H
#define RH_RUNTIME_SCOUT_TRACE_MEMORY_TESTING_H

#include "trace_testing.h"

/* --- accesses --- */

static uintptr_t block_at(uint32_t index)
{
    return object_at(AT_BLOCKS, index * BLOCK_SIZE);
}

static struct block *block_of(struct world *w, const struct rt_access *x)
{
    return &w->blocks[(x->address - block_at(0)) / BLOCK_SIZE];
}

static bool is_atomic(const struct rt_access *x)
{
    return x->kind != RH_ACCESS_READ && x->kind != RH_ACCESS_WRITE;
}

/* Nobody who knows of the thread so far knows of this. */
static void enter_access(struct world *w, struct actor *a, struct rt_access *x)
{
    x->site = ++w->last_site;
    w->accesses[x->site] = (struct access){
        .life = a->life,
        .time = ++a->now.at[a->life],
        .generation = block_of(w, x)->generation,
        .window = window_now(),
        .address = x->address,
        .size = (uint32_t)x->size,
        .is_write = x->kind != RH_ACCESS_READ && x->kind != RH_ACCESS_ATOMIC_READ,
        .is_atomic = is_atomic(x),
    };
}

static bool conflict(const struct access *x, const struct access *y)
{
    return x->life != y->life && x->generation == y->generation &&
           rt_overlaps(x->address, x->size, y->address, y->size) && (x->is_write || y->is_write) &&
           !(x->is_atomic && y->is_atomic);
}

static void use_memory(struct world *w, struct actor *a)
{
    uint32_t size = 1 + pick(w, 8), offset = pick(w, 3) ? pick(w, 3) * 8 : pick(w, BLOCK_SIZE - 8);
    struct rt_access x = {.kind = pick(w, 3) ? RH_ACCESS_READ : RH_ACCESS_WRITE,
                          .address = block_at(pick(w, BLOCKS)) + offset,
                          .size = size};
    enter_access(w, a, &x);
    tell_before(w, a, &x);
}

static void give_back(struct world *w, struct actor *a)
{
    struct rt_access x = {
        .kind = RH_ACCESS_WRITE, .address = block_at(pick(w, BLOCKS)), .size = BLOCK_SIZE};
    if (pick(w, 2))
        return;
    enter_access(w, a, &x);
    tell_gone(w, a, &x);
    block_of(w, &x)->generation++;
}

/* --- atomics --- */

/* A store ends the release sequences of all other threads; an update ends none. */
static void store_word(struct word *word, uint32_t life, const struct clock *what, bool is_update)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < word->count; i++) {
        if (!is_update && word->heads[i] != life)
            continue;
        if (kept != i) {
            word->heads[kept] = word->heads[i];
            word->clocks[kept] = word->clocks[i];
        }
        kept++;
    }
    word->count = kept;
    for (uint32_t i = 0; i < kept; i++) {
        if (word->heads[i] != life)
            continue;
        learn(&word->clocks[i], what);
        return;
    }
    word->heads[kept] = life;
    word->clocks[kept] = *what;
    word->count++;
}

static void load_word(const struct word *word, struct clock *into)
{
    for (uint32_t i = 0; i < word->count; i++)
        learn(into, &word->clocks[i]);
}

static void do_fence(struct actor *a, uint8_t order)
{
    if (rt_order_acquires(order))
        learn(&a->now, &a->pending);
    if (rt_order_releases(order))
        a->released = a->now;
}

/* The atomic happens, now. */
static void do_atomic(struct world *w, struct actor *a, const struct rt_access *x)
{
    a->has_done_atomic = true;
    if (x->kind == RH_ACCESS_FENCE) {
        do_fence(a, x->order);
        return;
    }
    struct word *words = block_of(w, x)->words;
    uint32_t first = (uint32_t)(x->address % BLOCK_SIZE) / WORD;
    uint32_t end = first + (uint32_t)x->size / WORD;
    w->accesses[x->site].is_ahead = false;
    for (uint32_t i = first; i < end && x->kind != RH_ACCESS_ATOMIC_WRITE; i++)
        load_word(&words[i], rt_order_acquires(x->order) ? &a->now : &a->pending);
    for (uint32_t i = first; i < end && x->kind != RH_ACCESS_ATOMIC_READ; i++)
        store_word(&words[i], a->life, rt_order_releases(x->order) ? &a->now : &a->released,
                   x->kind == RH_ACCESS_ATOMIC_UPDATE);
}

static struct rt_access any_atomic(struct world *w)
{
    static const uint8_t orders[3][5] = {
        {RH_MO_UNORDERED, RH_MO_RELAXED, RH_MO_ACQUIRE, RH_MO_SEQ_CST, RH_MO_ACQUIRE},
        {RH_MO_UNORDERED, RH_MO_RELAXED, RH_MO_RELEASE, RH_MO_SEQ_CST, RH_MO_RELEASE},
        {RH_MO_RELAXED, RH_MO_ACQUIRE, RH_MO_RELEASE, RH_MO_ACQ_REL, RH_MO_SEQ_CST},
    };
    static const uint8_t fences[] = {RH_MO_ACQUIRE, RH_MO_RELEASE, RH_MO_ACQ_REL, RH_MO_SEQ_CST};
    uint32_t kind = pick(w, 4), size = (uint32_t)WORD << pick(w, 3);
    if (kind == 3)
        return (struct rt_access){.kind = RH_ACCESS_FENCE, .order = fences[pick(w, 4)]};
    return (struct rt_access){
        .kind = (uint8_t)(RH_ACCESS_ATOMIC_READ + kind),
        .order = orders[kind][pick(w, 5)],
        .address = block_at(pick(w, BLOCKS)) + pick(w, ATOMIC_SIZE / size) * size,
        .size = size,
    };
}

static bool may_acquire(const struct rt_access *x)
{
    return x->kind == RH_ACCESS_FENCE ? rt_order_acquires(x->order)
                                      : x->kind != RH_ACCESS_ATOMIC_WRITE;
}

/* The hook before it, the atomic, and the hook after it: others may run between any two. */
static void use_atomic(struct world *w, struct actor *a)
{
    struct rt_access *x = &a->atomic;
    *x = any_atomic(w);
    if (x->kind != RH_ACCESS_FENCE) {
        enter_access(w, a, x);
        w->accesses[x->site].is_ahead = true;
    }
    tell_before(w, a, x);
    a->is_in_atomic = true;
    a->has_done_atomic = false;
    if (pick(w, 2))
        do_atomic(w, a, x);
}

static void finish_atomic(struct world *w, struct actor *a)
{
    if (!a->has_done_atomic)
        do_atomic(w, a, &a->atomic);
    if (may_acquire(&a->atomic))
        tell_after(w, a, &a->atomic);
    a->is_in_atomic = false;
}

/* What is an atomic in one place is the object of a once in another: a C++ guard. */
static void use_once(struct world *w, struct actor *a)
{
    uint32_t index = pick(w, BLOCKS);
    struct block *b = &w->blocks[index];
    uintptr_t at = block_at(index) + WORD;
    if (b->is_once_done) {
        load_word(&b->words[1], &a->now);
        learn(&a->now, &b->once);
        tell_sync(a, RT_SYNC_ONCE_PASS, at);
    } else {
        tell_sync(a, RT_SYNC_ONCE_DONE, at);
        learn(&b->once, &a->now);
        store_word(&b->words[1], a->life, &a->now, true);
        b->is_once_done = true;
    }
}

/* --- executions --- */

static void (*const kinds[])(struct world *, struct actor *) = {
    use_memory,     create,     begin,    join_thread,      end,
    use_mutex,      use_rwlock, use_once, use_atomic,       use_channel,
    send_signal_to, await,      arrive,   signal_condition, give_back,
};
enum { KINDS = sizeof kinds / sizeof kinds[0], ALWAYS = 4 };

/* How often each kind of step comes: some never, so that the others are not drowned. */
static void choose_weights(struct world *w)
{
    for (uint32_t i = 0; i < KINDS; i++)
        w->weights[i] = i < ALWAYS ? 1 + pick(w, 4) : pick(w, 2) * (1 + pick(w, 8));
    w->weights[0] += 4;
}

static uint32_t any_kind(struct world *w)
{
    uint32_t sum = 0, kind = 0;
    for (uint32_t i = 0; i < KINDS; i++)
        sum += w->weights[i];
    for (uint32_t at = pick(w, sum); at >= w->weights[kind]; kind++)
        at -= w->weights[kind];
    return kind;
}

static void take_step(struct world *w)
{
    struct actor *a = any_in(w, RT_THREAD_RUNNING);
    if (a && a->is_in_atomic)
        finish_atomic(w, a);
    else if (a)
        kinds[any_kind(w)](w, a);
    wake_some(w);
    leave_some(w);
}

static void start_world(struct world *w, uint32_t number)
{
    enum { LEAST_STEPS = 200 };
    memset(w, 0, sizeof *w);
    memset(fakes, 0, sizeof fakes);
    w->number = number;
    w->random = seed_of(number);
    w->step_count = LEAST_STEPS + pick(w, STEPS - LEAST_STEPS + 1);
    w->actor_count = 2 + pick(w, ACTORS - 1);
    choose_weights(w);
    for (uint32_t i = 0; i < BARRIERS; i++)
        w->barriers[i].count = 2 + pick(w, 2);
}

/* The first thread; the others are created. */
static void start_main(struct world *w)
{
    lives = 0;
    enter(w, &w->actors[0]);
    atomic_store(&w->actors[0].fake->state, RT_THREAD_RUNNING);
    tell_begin(&w->actors[0]);
}

#endif
