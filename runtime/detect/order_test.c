/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of happens-before on demand against a reference with full vector clocks, by thousands of
 * random sequences of everything that may happen to threads, objects and tracks.
 *
 * There are two references. The *strict* one has the rules of C17, for each byte of an atomic: what
 * it calls ordered must never be called a race. The *loose* one also knows what order.c says of
 * itself: that the bits of an atomic only grow, that a granule is one object, that an adopted
 * thread may have learned anything. What it calls unordered should be found, but for words that two
 * objects share.
 */
#include "order.c"

#include "fakes_test.h"

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
    } sites[STEPS + 1];
    bool may_end; /* the step may end tracks that not everyone has learned of */
};

/* Of all sequences. */
static struct {
    uint64_t tracked, asked, raced, ordered, missed, learned, early, told_learned;
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
        if (state_of(a) == state && (state != RT_THREAD_RUNNING || !a->inside))
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
    memset(fake, 0, sizeof *fake);
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

static void send(struct world *w, struct actor *a)
{
    struct actor *target = choose(w, 4) ? &w->actors[choose(w, ACTORS)] : NULL;
    if (choose(w, 8) || (target && !target->life))
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
    for (uint32_t i = at; i < at + size; i++) {
        for (uint32_t life = 1; life <= w->last_life; life++)
            join(&into[STRICT], &w->bytes[i].by[life]);
        join(&into[LOOSE], &w->granules[i / w->widest]);
    }
}

/* A plain store ends the release sequences of all other threads; an update ends none. */
static void store_bytes(struct world *w, const struct actor *a, uint32_t at, uint32_t size,
                        const struct clock *what, bool is_update)
{
    for (uint32_t i = at; i < at + size; i++) {
        for (uint32_t life = 1; life <= w->last_life && !is_update; life++)
            if (life != a->life)
                memset(&w->bytes[i].by[life], 0, sizeof w->bytes[i].by[life]);
        join(&w->bytes[i].by[a->life], &what[STRICT]);
        join(&w->granules[i / w->widest], &what[LOOSE]);
    }
}

static void use_atomic(struct world *w, struct actor *a)
{
    static const uint8_t orders[3][5] = {
        {RH_MO_UNORDERED, RH_MO_RELAXED, RH_MO_ACQUIRE, RH_MO_SEQ_CST, RH_MO_ACQUIRE},
        {RH_MO_UNORDERED, RH_MO_RELAXED, RH_MO_RELEASE, RH_MO_SEQ_CST, RH_MO_RELEASE},
        {RH_MO_RELAXED, RH_MO_ACQUIRE, RH_MO_RELEASE, RH_MO_ACQ_REL, RH_MO_SEQ_CST},
    };
    uint32_t kind = choose(w, 3), size = w->widest >> choose(w, 4);
    uint32_t at = choose(w, ATOMIC_BYTES / size) * size;
    uint8_t order = orders[kind][choose(w, 5)];
    struct rt_access access =
        atomic_at(w, at, size, (uint8_t)(RH_ACCESS_ATOMIC_READ + kind), order);
    rt_order_before(a->fake, &access);
    if (kind != 1) {
        load_bytes(w, at, size, acquires(order) ? a->now : a->pending);
        rt_order_after(a->fake, &access);
    }
    if (kind != 0)
        store_bytes(w, a, at, size, releases(order) ? a->now : a->released, kind == 2);
}

static void fence(struct world *w, struct actor *a)
{
    static const uint8_t orders[] = {RH_MO_ACQUIRE, RH_MO_RELEASE, RH_MO_ACQ_REL, RH_MO_SEQ_CST};
    uint8_t order = orders[choose(w, 4)];
    struct rt_access access = {.kind = RH_ACCESS_FENCE, .order = order};
    rt_order_before(a->fake, &access);
    if (acquires(order)) {
        join_all(a->now, a->pending);
        rt_order_after(a->fake, &access);
    }
    if (releases(order))
        memcpy(a->released, a->now, sizeof a->now);
}

/* What is an atomic in one place may be the object of a once in another. */
static void use_once(struct world *w, struct actor *a)
{
    uint32_t at = choose(w, ATOMIC_BYTES / 8) * 8 + choose(w, 2);
    uintptr_t object = w->base + 0x30000 + at;
    if (choose(w, 2)) {
        sync(a, RT_SYNC_ONCE_DONE, object);
        store_bytes(w, a, at, 1, a->now, true);
    } else {
        sync(a, RT_SYNC_ONCE_PASS, object);
        load_bytes(w, at, 1, a->now);
    }
}

/* --- tracks --- */

static struct rt_access any_access(struct world *w)
{
    uintptr_t start = w->base + 0x40000 + choose(w, BLOCKS) * BLOCK_SIZE;
    if (choose(w, 8) == 0)
        start = stack_of(w, &w->actors[choose(w, ACTORS)]);
    uint32_t size = 1u << choose(w, 5);
    return (struct rt_access){.kind = RH_ACCESS_WRITE,
                              .address = start + choose(w, BLOCK_SIZE / 8) * 8,
                              .size = size,
                              .site = w->last_site};
}

static void track(struct world *w, struct actor *a)
{
    struct rt_access access = any_access(w);
    tick(a); /* whoever has learned of the thread so far has not learned of this */
    access.site = ++w->last_site;
    w->sites[access.site].life = a->life;
    w->sites[access.site].epoch = a->now[STRICT].at[a->life];
    w->may_end = true; /* to make room */
    sums.tracked += rt_order_track(a->fake, choose(w, TASKS), (enum rt_side)choose(w, 2), &access);
}

static bool is_ordered(const struct world *w, const struct actor *a, uint32_t site, enum rule rule)
{
    return a->now[rule].at[w->sites[site].life] >= w->sites[site].epoch;
}

/* How many tracks the access meets, and how many of these the loose reference calls unordered. */
static uint32_t expect(const struct world *w, const struct actor *a, uint32_t task, uint32_t side,
                       const struct rt_access *access, uint32_t *unordered)
{
    uint32_t matches = 0;
    *unordered = 0;
    for (uint32_t i = 0; i < RT_TRACKS; i++) {
        const struct rt_witness *t = &tracks[i].witness;
        if (atomic_load(&tracks[i].serial) & 1 || tracks[i].task != task ||
            tracks[i].side != side || t->thread == a->life ||
            !rt_overlaps(t->address, t->size, access->address, access->size))
            continue;
        matches++;
        *unordered += !is_ordered(w, a, t->site.site, LOOSE);
    }
    return matches;
}

/* Mostly about what is tracked, or most questions would meet nothing. */
static struct rt_access any_question(struct world *w, uint32_t *task, uint32_t *side)
{
    struct rt_access access = any_access(w);
    const struct track *t = &tracks[choose(w, RT_TRACKS)];
    *task = choose(w, TASKS);
    *side = choose(w, 2);
    for (uint32_t i = 0; i < RT_TRACKS && atomic_load(&t->serial) & 1; i++)
        t = &tracks[i];
    if (choose(w, 8) && !(atomic_load(&t->serial) & 1)) {
        *task = t->task;
        *side = t->side;
        access.address = t->witness.address + choose(w, (uint32_t)t->witness.size);
    }
    return access;
}

static void ask(struct world *w, struct actor *a)
{
    uint32_t task, side, unordered;
    struct rt_access access = any_question(w, &task, &side);
    uint32_t matches = expect(w, a, task, side, &access, &unordered);
    struct rt_order_answer answer;
    CHECK(w, rt_order_has(a->fake, task, side, &access) == (matches > 0));
    rt_order_ask(a->fake, task, side, &access, &answer);
    w->may_end = true;
    sums.asked += matches;
    sums.raced += answer.raced;
    sums.ordered += answer.ordered;
    CHECK(w, answer.ordered <= matches);
    CHECK(w, answer.ordered >= matches - unordered);
    sums.missed += answer.ordered - (matches - unordered);
    if (!answer.raced)
        return;
    CHECK(w, !is_ordered(w, a, answer.first.site.site, STRICT));
    CHECK(w, !is_ordered(w, a, answer.first.site.site, LOOSE));
    CHECK(w, rt_overlaps(answer.first.address, answer.first.size, access.address, access.size));
}

static void give_back(struct world *w, struct actor *a)
{
    uintptr_t start = w->base + 0x40000 + choose(w, BLOCKS) * BLOCK_SIZE;
    (void)a;
    rt_order_gone(start, BLOCK_SIZE);
    check_untracked(w, start, BLOCK_SIZE);
    w->may_end = true;
}

static void forbid(struct world *w, struct actor *a)
{
    if (choose(w, 16))
        return;
    struct rt_access access = any_access(w);
    w->may_end = true;
    rt_order_allow(false);
    CHECK(w, atomic_load(&used) == 0);
    CHECK(w, !rt_order_track(a->fake, 0, RT_SIDE_FIRST, &access));
    rt_order_allow(true);
}

/* --- what holds after each step --- */

static bool everyone_knows(const struct world *w, uint32_t site)
{
    for (uint32_t i = 0; i < ACTORS; i++) {
        const struct actor *a = &w->actors[i];
        if (state_of(a) == RT_THREAD_STARTING ||
            (state_of(a) == RT_THREAD_RUNNING && !is_ordered(w, a, site, LOOSE)))
            return false;
    }
    return true;
}

static void count_told(uint32_t task)
{
    CHECK(&world, task < TASKS);
    sums.told_learned++;
}

/* The tracks that were live before the step. */
struct picture {
    uint32_t serials[RT_TRACKS], sites[RT_TRACKS];
};

static struct picture look(void)
{
    struct picture p;
    for (uint32_t i = 0; i < RT_TRACKS; i++) {
        p.serials[i] = atomic_load(&tracks[i].serial);
        p.sites[i] = tracks[i].witness.site.site;
    }
    return p;
}

static void check_ends(struct world *w, const struct picture *before)
{
    for (uint32_t i = 0; i < RT_TRACKS; i++) {
        if (before->serials[i] & 1 || atomic_load(&tracks[i].serial) == before->serials[i])
            continue;
        sums.learned++;
        sums.early += !everyone_knows(w, before->sites[i]);
    }
}

static void check_counts(const struct world *w)
{
    uint32_t count = count_bits(atomic_load(&used));
    CHECK(w, atomic_load(&used) == atomic_load(&live));
    CHECK(w, atomic_load(&rt_sync_live) == count);
    CHECK(w, atomic_load(&rt_memory_live) == count);
    for (uint32_t task = 0; task < RH_MAX_TASKS; task++)
        CHECK(w, count_bits(atomic_load(&of_task[task])) <= RT_TRACKS_OF_TASK);
}

/* Tracking stops when everyone has learned. */
static void check_collected(const struct world *w)
{
    rt_order_collect();
    for (uint32_t i = 0; i < RT_TRACKS; i++)
        CHECK(w, atomic_load(&tracks[i].serial) & 1 ||
                     !everyone_knows(w, tracks[i].witness.site.site));
}

/* --- sequences --- */

static void (*const steps[])(struct world *, struct actor *) = {
    track,      track,       track,      track,      track,      track,        track,
    ask,        ask,         ask,        ask,        ask,        ask,          ask,
    use_object, use_object,  use_object, use_rwlock, use_rwlock, use_atomic,   use_atomic,
    use_atomic, fence,       use_once,   arrive,     leave_some, create,       begin,
    end,        join_thread, detach,     adopt,      send,       renew_object, give_back,
    forbid,     use_rwlock,  begin,      use_atomic,
};
enum { KINDS = sizeof steps / sizeof steps[0] };

static void take_step(struct world *w)
{
    struct actor *a = any_in(w, RT_THREAD_RUNNING);
    if (!a) {
        leave_some(w, NULL);
        return;
    }
    struct picture before = look();
    w->may_end = false;
    steps[choose(w, KINDS)](w, a);
    if (!w->may_end)
        check_ends(w, &before);
    if (a->life)
        tick(a);
    check_counts(w);
    if (choose(w, 8) == 0)
        check_collected(w);
}

static void start_world(struct world *w, uint32_t sequence)
{
    memset(w, 0, sizeof *w);
    memset(fakes, 0, sizeof fakes);
    w->sequence = sequence;
    w->random = seed_of(sequence);
    w->base = (draw(&w->random) & 0xffffffffffull) << 4; /* 16 bytes may be one atomic */
    w->object_count = sequence % 4 ? 6 : OBJECTS;
    w->widest = sequence % 3 ? 8 : 16;
    atomic_store(&granule_size, w->widest);
    for (uint32_t i = 0; i < BARRIERS; i++)
        w->barriers[i].count = 2 + i;
    rt_order_allow(true);
    rt_order_learned = count_told;
    for (uint32_t i = 0; i < 3; i++) {
        enter(w, &w->actors[i]);
        atomic_store(&w->actors[i].fake->state, RT_THREAD_RUNNING);
    }
}

/* By the last thread's end, or by force. */
static void end_world(struct world *w)
{
    for (uint32_t i = 0; i < ACTORS; i++)
        if (w->actors[i].life)
            atomic_store(&w->actors[i].fake->state, RT_THREAD_ENDED);
    if (w->sequence % 2)
        rt_order_collect();
    else
        rt_order_end_all();
    CHECK(w, atomic_load(&used) == 0);
    check_counts(w);
    for (uint32_t i = 0; i < WORDS; i++)
        CHECK(w, atomic_load_explicit(&words[i], memory_order_relaxed) == 0);
}

static void test_against_vector_clocks(void **state)
{
    (void)state;
    enum { SEQUENCES = 10000 };
    for (uint32_t i = 0; i < SEQUENCES; i++) {
        start_world(&world, i);
        for (world.step = 0; world.step < STEPS; world.step++)
            take_step(&world);
        end_world(&world);
    }
    print_message(
        "%lu tracks; %lu asked of: %lu raced, %lu ordered (%lu wrongly); %lu learned (%lu "
        "wrongly)\n",
        sums.tracked, sums.asked, sums.raced, sums.ordered, sums.missed, sums.learned, sums.early);
    assert_true(sums.raced > 10000 && sums.ordered > 10000 && sums.learned > 1000);
    assert_true(sums.told_learned >= sums.learned);
    assert_true(sums.missed * 500 < sums.raced);
    assert_true(sums.early * 500 < sums.learned);
}

/* --- single cases --- */

static struct rt_thread *fake_thread(uint32_t at)
{
    memset(&fakes[at], 0, sizeof fakes[at]);
    fakes[at].id = at + 1;
    atomic_store(&fakes[at].state, RT_THREAD_RUNNING);
    return &fakes[at];
}

static int set_up(void **state)
{
    (void)state;
    memset(fakes, 0, sizeof fakes);
    for (uint32_t i = 0; i < 4; i++)
        fake_thread(i);
    rt_order_learned = NULL;
    rt_order_allow(true);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rt_order_end_all();
    return atomic_load(&used) || atomic_load(&rt_sync_live) || atomic_load(&rt_memory_live);
}

static bool races(struct rt_thread *self, const struct rt_access *a)
{
    struct rt_order_answer answer;
    rt_order_ask(self, 0, RT_SIDE_FIRST, a, &answer);
    return answer.raced;
}

static void atomically(struct rt_thread *self, uint8_t kind, uint8_t order, uintptr_t at)
{
    struct rt_access a = {.kind = kind, .order = order, .address = at, .size = 4};
    rt_order_before(self, &a);
    if (kind != RH_ACCESS_ATOMIC_WRITE)
        rt_order_after(self, &a);
}

/* Through a thread that only has a fence: what it acquires is what it releases. */
static void test_fence_that_acquires_and_releases(void **state)
{
    (void)state;
    static const uint8_t orders[] = {RH_MO_ACQ_REL, RH_MO_SEQ_CST};
    for (uint32_t i = 0; i < 2; i++) {
        struct rt_access a = {.kind = RH_ACCESS_WRITE, .address = 0x1000, .size = 8};
        set_up(state);
        assert_true(rt_order_track(&fakes[0], 0, RT_SIDE_FIRST, &a));
        atomically(&fakes[0], RH_ACCESS_ATOMIC_WRITE, RH_MO_RELEASE, 0x2000);
        atomically(&fakes[1], RH_ACCESS_ATOMIC_READ, RH_MO_RELAXED, 0x2000);
        atomically(&fakes[1], RH_ACCESS_FENCE, orders[i], 0);
        atomically(&fakes[1], RH_ACCESS_ATOMIC_WRITE, RH_MO_RELAXED, 0x3000);
        atomically(&fakes[2], RH_ACCESS_ATOMIC_READ, RH_MO_ACQUIRE, 0x3000);
        assert_false(races(&fakes[2], &a));
        assert_true(races(&fakes[3], &a));
    }
}

/* memcpy(p, q, 0) touches nothing, wherever p points. */
static void test_access_of_no_bytes(void **state)
{
    (void)state;
    struct rt_access a = {.kind = RH_ACCESS_WRITE, .address = 0x1000, .size = 16};
    struct rt_access none = {.kind = RH_ACCESS_READ, .address = 0x1008, .size = 0};
    assert_true(rt_order_track(&fakes[0], 0, RT_SIDE_FIRST, &a));
    assert_false(races(&fakes[1], &none));
    assert_false(rt_order_has(&fakes[1], 0, RT_SIDE_FIRST, &none));
    rt_order_gone(0x1008, 0);
    assert_true(races(&fakes[1], &a));
}

/* Readers give to writers only, and a writer to all. */
static void test_readers_do_not_order_each_other(void **state)
{
    (void)state;
    const volatile void *lock = (const volatile void *)0x4000;
    struct rt_access a = {.kind = RH_ACCESS_WRITE, .address = 0x1000, .size = 8};
    assert_true(rt_order_track(&fakes[0], 0, RT_SIDE_FIRST, &a));
    rt_order_sync(&fakes[0], RT_SYNC_RWLOCK_READ_UNLOCK, lock);
    rt_order_sync(&fakes[1], RT_SYNC_RWLOCK_READ, lock);
    rt_order_sync(&fakes[2], RT_SYNC_RWLOCK_WRITE, lock);
    assert_false(races(&fakes[2], &a));
    rt_order_sync(&fakes[2], RT_SYNC_RWLOCK_WRITE_UNLOCK, lock);
    rt_order_sync(&fakes[3], RT_SYNC_RWLOCK_READ, lock);
    assert_false(races(&fakes[3], &a));
    assert_true(races(&fakes[1], &a));
}

/* A bit that is used again belongs to the new track alone. */
static void test_bits_are_used_again(void **state)
{
    (void)state;
    const volatile void *lock = (const volatile void *)0x4000;
    struct rt_access a = {.kind = RH_ACCESS_WRITE, .address = 0x1000, .size = 8};
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(rt_order_track(&fakes[i % 4], 0, RT_SIDE_FIRST, &a));
        assert_int_equal(atomic_load(&used), 1);
        rt_order_sync(&fakes[i % 4], RT_SYNC_MUTEX_UNLOCK, lock);
        assert_true(races(&fakes[(i + 1) % 4], &a));
        assert_int_equal(atomic_load(&used), 0);
        rt_order_sync(&fakes[(i + 1) % 4], RT_SYNC_MUTEX_LOCK, lock);
    }
}

/* When all places are taken, the task's share is kept, and now and then one is replaced. */
static void test_room(void **state)
{
    (void)state;
    uint32_t tracked = 0;
    for (uint32_t i = 0; i < 4000; i++) {
        struct rt_access a = {.kind = RH_ACCESS_WRITE, .address = 0x1000 + i * 8, .size = 8};
        tracked += rt_order_track(&fakes[0], i % 3, RT_SIDE_FIRST, &a);
        assert_true(count_bits(atomic_load(&used)) <= 3 * RT_TRACKS_OF_TASK);
    }
    assert_int_equal(count_bits(atomic_load(&used)), 3 * RT_TRACKS_OF_TASK);
    assert_in_range(tracked, 300, 1000);
    for (uint32_t i = 0; i < 4000; i++) {
        struct rt_access a = {.kind = RH_ACCESS_WRITE, .address = 0x1000 + i * 8, .size = 8};
        rt_order_track(&fakes[0], i % RH_MAX_TASKS, RT_SIDE_FIRST, &a);
    }
    assert_int_equal(atomic_load(&used), UINT64_MAX);
    assert_int_equal(atomic_load(&rt_sync_live), RT_TRACKS);
}

/* One access, made over and over, keeps one track, and now and then the newest. */
static void test_covered(void **state)
{
    (void)state;
    struct rt_order_answer answer;
    struct rt_access a = {.kind = RH_ACCESS_WRITE, .address = 0x1000, .size = 8};
    for (a.site = 0; a.site < 1000; a.site++) {
        rt_order_track(&fakes[0], 0, RT_SIDE_FIRST, &a);
        assert_int_equal(count_bits(atomic_load(&used)), 1);
    }
    rt_order_ask(&fakes[1], 0, RT_SIDE_FIRST, &a, &answer);
    assert_true(answer.raced);
    assert_in_range(answer.first.site.site, 900, 999);
}

/* More words than a track remembers: all of them are searched. */
static void test_many_objects(void **state)
{
    (void)state;
    struct rt_access a = {.kind = RH_ACCESS_WRITE, .address = 0x1000, .size = 8};
    assert_true(rt_order_track(&fakes[0], 0, RT_SIDE_FIRST, &a));
    for (uintptr_t i = 0; i < 4 * TOUCHED; i++)
        rt_order_sync(&fakes[0], RT_SYNC_SEM_POST, (const volatile void *)(0x4000 + i * 32));
    rt_order_gone(0x1000, 1);
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(atomic_load(&words[i]), 0);
}

/* A thread that is about to begin will know what its creator knew, but nobody else's. */
static void test_starting_threads_hold_tracks(void **state)
{
    (void)state;
    struct rt_access a = {.kind = RH_ACCESS_WRITE, .address = 0x1000, .size = 8};
    memset(&fakes[1], 0, 3 * sizeof fakes[1]);
    atomic_store(&fakes[1].state, RT_THREAD_STARTING);
    assert_true(rt_order_track(&fakes[0], 0, RT_SIDE_FIRST, &a));
    rt_order_collect();
    assert_int_equal(count_bits(atomic_load(&used)), 1);
    atomic_store(&fakes[1].state, RT_THREAD_ENDED);
    rt_order_collect();
    assert_int_equal(count_bits(atomic_load(&used)), 0);
}

/* The halves of a double word, each read by itself, are of one object. */
static void test_wide_atomics(void **state)
{
    (void)state;
    struct rt_access a = {.kind = RH_ACCESS_WRITE, .address = 0x1000, .size = 8};
    struct rt_access update = {
        .kind = RH_ACCESS_ATOMIC_UPDATE, .order = RH_MO_ACQ_REL, .address = 0x2000, .size = 16};
    assert_true(rt_order_track(&fakes[0], 0, RT_SIDE_FIRST, &a));
    rt_order_widen();
    assert_int_equal(atomic_load(&used), 0);
    assert_true(rt_order_track(&fakes[0], 0, RT_SIDE_FIRST, &a));
    rt_order_widen();
    atomically(&fakes[0], RH_ACCESS_ATOMIC_WRITE, RH_MO_RELEASE, 0x2000);
    rt_order_before(&fakes[1], &update);
    rt_order_after(&fakes[1], &update);
    atomically(&fakes[2], RH_ACCESS_ATOMIC_READ, RH_MO_ACQUIRE, 0x2008);
    assert_false(races(&fakes[2], &a));
    assert_true(races(&fakes[3], &a));
}

static void test_after_fork(void **state)
{
    (void)state;
    struct rt_access a = {.kind = RH_ACCESS_WRITE, .address = 0x1000, .size = 8};
    assert_true(rt_order_track(&fakes[0], 0, RT_SIDE_FIRST, &a));
    rt_order_after_fork(&fakes[1]);
    assert_false(races(&fakes[1], &a));
    assert_int_equal(atomic_load(&used), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_fence_that_acquires_and_releases),
        CASE(test_access_of_no_bytes),
        CASE(test_readers_do_not_order_each_other),
        CASE(test_bits_are_used_again),
        CASE(test_room),
        CASE(test_covered),
        CASE(test_many_objects),
        CASE(test_starting_threads_hold_tracks),
        CASE(test_wide_atomics),
        CASE(test_after_fork),
        CASE(test_against_vector_clocks),
    };
    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
