/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of happens-before on demand against a reference with full vector clocks, by thousands of
 * random sequences of everything that may happen to threads, objects and tracks. Other threads
 * run between the hook before an atomic, the atomic and the hook after it.
 *
 * There are two references. The *strict* one has the rules of C17, for each byte of an atomic: what
 * it calls ordered must never be called a race. The *loose* one also knows what order.c says of
 * itself: that the bits of an atomic only grow, that a granule is one object, that an adopted
 * thread may have learned anything. What it calls unordered should be found, but for words that two
 * objects share.
 */
#include "order.c"

_Atomic uint64_t rt_moment;

#include "order_testing.h"

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
    w->sites[access.site].known = a->now[STRICT];
    w->may_end = true; /* to make room */
    sums.tracked += rt_order_track(a->fake, choose(w, TASKS), (enum rt_side)choose(w, 2), &access);
}

static bool is_ordered(const struct world *w, const struct actor *a, uint32_t site, enum rule rule)
{
    return a->now[rule].at[w->sites[site].life] >= w->sites[site].epoch;
}

/* Whether the atomic that the actor is in, or was last, comes before a tracked access. */
static bool is_atomic_before(const struct world *w, const struct actor *a, uint32_t site)
{
    return w->sites[site].known.at[a->life] >= a->atomic_epoch;
}

/* How many tracks the access meets of those that began before the moment, and how many of these the
 * loose reference calls unordered. */
static uint32_t expect(const struct world *w, const struct actor *a, uint32_t task, uint32_t side,
                       const struct rt_access *access, uint64_t limit, uint32_t *unordered)
{
    uint32_t matches = 0;
    *unordered = 0;
    for (uint32_t i = 0; i < RT_TRACKS; i++) {
        const struct rt_witness *t = &tracks[i].witness;
        if (atomic_load(&tracks[i].serial) & 1 || tracks[i].task != task ||
            tracks[i].side != side || t->thread == a->life ||
            !rt_overlaps(t->address, t->size, access->address, access->size))
            continue;
        if (tracks[i].began >= limit) {
            sums.late++;
            continue;
        }
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

/* False if no race was found. */
static bool ask_before(struct world *w, struct actor *a, uint64_t limit,
                       struct rt_order_comparison *found)
{
    uint32_t task, side, unordered;
    struct rt_access access = any_question(w, &task, &side);
    uint32_t matches = expect(w, a, task, side, &access, limit, &unordered);
    struct rt_order_comparison compared;
    CHECK(w, limit != RT_ANY_MOMENT || rt_order_has(a->fake, task, side, &access) == (matches > 0));
    rt_order_compare(a->fake, task, side, &access, limit, &compared);
    w->may_end = true;
    sums.asked += matches;
    sums.raced += compared.raced;
    sums.ordered += compared.ordered;
    CHECK(w, compared.ordered <= matches);
    CHECK(w, compared.ordered >= matches - unordered);
    sums.missed += compared.ordered - (matches - unordered);
    *found = compared;
    if (!compared.raced)
        return false;
    CHECK(w, !is_ordered(w, a, compared.first.site.site, STRICT));
    CHECK(w, !is_ordered(w, a, compared.first.site.site, LOOSE));
    CHECK(w, rt_overlaps(compared.first.address, compared.first.size, access.address, access.size));
    return true;
}

static void ask(struct world *w, struct actor *a)
{
    struct rt_order_comparison compared;
    ask_before(w, a, RT_ANY_MOMENT, &compared);
}

/* An atomic that others have been ordered behind meanwhile. */
static void go_on(struct world *w, struct actor *a)
{
    struct rt_order_comparison compared;
    if (a->progress == ENTERED) {
        do_atomic(w, a);
        return;
    }
    leave_atomic(w, a);
    if (ask_before(w, a, a->moment, &compared)) {
        sums.atomics_raced++;
        CHECK(w, !is_atomic_before(w, a, compared.first.site.site));
    }
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
    struct actor *busy = any_in_atomic(w), *a = any_in(w, RT_THREAD_RUNNING);
    bool goes_on = busy && (!a || choose(w, 4) == 0);
    if (goes_on)
        a = busy;
    if (!a) {
        leave_some(w, NULL);
        return;
    }
    struct picture before = look();
    w->may_end = false;
    (goes_on ? go_on : steps[choose(w, KINDS)])(w, a);
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
    clear_fakes(0, FAKES);
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
    assert_true(sums.atomics_raced > 1000 && sums.late > 1000);
    assert_true(sums.told_learned >= sums.learned);
    assert_true(sums.missed * 500 < sums.raced);
    assert_true(sums.early * 500 < sums.learned);
}

/* --- single cases --- */

static struct rt_thread *fake_thread(uint32_t at)
{
    clear_fakes(at, 1);
    fakes[at].id = at + 1;
    atomic_store(&fakes[at].state, RT_THREAD_RUNNING);
    return &fakes[at];
}

static int set_up(void **state)
{
    (void)state;
    clear_fakes(0, FAKES);
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
    struct rt_order_comparison compared;
    rt_order_compare(self, 0, RT_SIDE_FIRST, a, RT_ANY_MOMENT, &compared);
    return compared.raced;
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
    struct rt_order_comparison compared;
    struct rt_access a = {.kind = RH_ACCESS_WRITE, .address = 0x1000, .size = 8};
    for (a.site = 0; a.site < 1000; a.site++) {
        rt_order_track(&fakes[0], 0, RT_SIDE_FIRST, &a);
        assert_int_equal(count_bits(atomic_load(&used)), 1);
    }
    rt_order_compare(&fakes[1], 0, RT_SIDE_FIRST, &a, RT_ANY_MOMENT, &compared);
    assert_true(compared.raced);
    assert_in_range(compared.first.site.site, 900, 999);
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
    clear_fakes(1, 3);
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
