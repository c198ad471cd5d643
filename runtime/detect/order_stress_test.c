/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happens-before on demand under real threads that synchronise in real ways: what is synchronised
 * must never be called a race, whoever begins and ends tracks meanwhile, and nothing may be left
 * over at the end.
 */
#include "order.c"

_Atomic uint64_t rt_moment;

#include "detect/fakes_testing.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 4, CELLS = 4, BLOCKS = 8, SECONDS = 3 };

/* Tasks, each with ground rules of its own. */
enum task { GUARDED, SHARED, PASSED, PASSED_BY_FENCES, HEAP, LENT, WILD, TASKS };

static struct cell {
    pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
    _Atomic uint32_t holder;
    uint64_t data[2];
} cells[TASKS][CELLS];

static struct {
    _Atomic bool is_over;
    pthread_mutex_t allocator; /* which nobody tells of */
    uint64_t blocks[BLOCKS][8];
    uint32_t free[BLOCKS], free_count;
    _Atomic uint64_t asked, ordered, raced, wrong, churned;
    _Atomic uint32_t last_id;
    _Atomic bool taken[FAKES];
} stress = {.allocator = PTHREAD_MUTEX_INITIALIZER};

/* One of the threads of the stress. */
struct worker {
    struct rt_thread *self;
    uint32_t number;
    uint64_t random;
};

/* As the wrappers do: after an acquire, before a release. */
static void tell(struct rt_thread *self, enum rt_sync what, const volatile void *object)
{
    if (atomic_load_explicit(&rt_sync_live, memory_order_relaxed))
        rt_order_sync(self, what, object);
}

/* --- accesses --- */

static bool ask(struct worker *w, uint32_t task, enum rt_side other, const void *at)
{
    struct rt_access a = {.kind = RH_ACCESS_WRITE, .address = (uintptr_t)at, .size = 8};
    struct rt_order_comparison compared;
    rt_order_compare(w->self, task, other, &a, RT_ANY_MOMENT, &compared);
    atomic_fetch_add_explicit(&stress.asked, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&stress.ordered, compared.ordered, memory_order_relaxed);
    return compared.raced;
}

static void track(struct worker *w, uint32_t task, enum rt_side side, const void *at)
{
    struct rt_access a = {
        .kind = RH_ACCESS_WRITE, .address = (uintptr_t)at, .size = 8, .site = task};
    rt_order_track(w->self, task, side, &a);
}

/* An access that is ordered with all others of its task. */
static void use(struct worker *w, uint32_t task, const void *at)
{
    enum rt_side side = (enum rt_side)draw_below(&w->random, 2);
    if (ask(w, task, RT_SIDE_FIRST, at) || ask(w, task, RT_SIDE_SECOND, at))
        atomic_fetch_add(&stress.wrong, 1);
    track(w, task, side, at);
}

/* --- ways to synchronise --- */

static void use_guarded(struct worker *w, struct cell *c)
{
    pthread_mutex_lock(&c->mutex);
    tell(w->self, RT_SYNC_MUTEX_LOCK, &c->mutex);
    use(w, GUARDED, c->data);
    tell(w->self, RT_SYNC_MUTEX_UNLOCK, &c->mutex);
    pthread_mutex_unlock(&c->mutex);
}

static void write_shared(struct worker *w, struct cell *c)
{
    pthread_rwlock_wrlock(&c->rwlock);
    tell(w->self, RT_SYNC_RWLOCK_WRITE, &c->rwlock);
    if (ask(w, SHARED, RT_SIDE_FIRST, c->data) || ask(w, SHARED, RT_SIDE_SECOND, c->data))
        atomic_fetch_add(&stress.wrong, 1);
    track(w, SHARED, RT_SIDE_FIRST, c->data);
    tell(w->self, RT_SYNC_RWLOCK_WRITE_UNLOCK, &c->rwlock);
    pthread_rwlock_unlock(&c->rwlock);
}

static void read_shared(struct worker *w, struct cell *c)
{
    pthread_rwlock_rdlock(&c->rwlock);
    tell(w->self, RT_SYNC_RWLOCK_READ, &c->rwlock);
    if (ask(w, SHARED, RT_SIDE_FIRST, c->data))
        atomic_fetch_add(&stress.wrong, 1);
    track(w, SHARED, RT_SIDE_SECOND, c->data);
    tell(w->self, RT_SYNC_RWLOCK_READ_UNLOCK, &c->rwlock);
    pthread_rwlock_unlock(&c->rwlock);
}

static struct rt_access on_holder(struct cell *c, uint8_t kind, uint8_t order)
{
    return (struct rt_access){
        .kind = kind, .order = order, .address = (uintptr_t)&c->holder, .size = 4};
}

/* Whoever the number names may use the cell, and passes it on. */
static void use_passed(struct worker *w, struct cell *c)
{
    struct rt_access load = on_holder(c, RH_ACCESS_ATOMIC_READ, RH_MO_ACQUIRE);
    struct rt_access store = on_holder(c, RH_ACCESS_ATOMIC_WRITE, RH_MO_RELEASE);
    uint32_t holder = atomic_load_explicit(&c->holder, memory_order_acquire);
    rt_order_after(w->self, &load);
    if (holder != w->number)
        return;
    use(w, PASSED, c->data);
    rt_order_before(w->self, &store);
    atomic_store_explicit(&c->holder, draw_below(&w->random, WORKERS), memory_order_release);
}

/* The same by relaxed accesses, between two fences that acquire and release. */
static void use_passed_by_fences(struct worker *w, struct cell *c)
{
    struct rt_access load = on_holder(c, RH_ACCESS_ATOMIC_READ, RH_MO_RELAXED);
    struct rt_access store = on_holder(c, RH_ACCESS_ATOMIC_WRITE, RH_MO_RELAXED);
    struct rt_access fence = {.kind = RH_ACCESS_FENCE, .order = RH_MO_ACQ_REL};
    uint32_t holder = atomic_load_explicit(&c->holder, memory_order_relaxed);
    rt_order_after(w->self, &load);
    if (holder != w->number)
        return;
    rt_order_before(w->self, &fence);
    atomic_thread_fence(memory_order_acq_rel);
    rt_order_after(w->self, &fence);
    if (draw_below(&w->random, 2)) {
        use(w, PASSED_BY_FENCES, c->data);
        rt_order_before(w->self, &fence);
        atomic_thread_fence(memory_order_acq_rel);
        rt_order_after(w->self, &fence);
    }
    rt_order_before(w->self, &store);
    atomic_store_explicit(&c->holder, draw_below(&w->random, WORKERS), memory_order_relaxed);
}

/* Memory that goes from one thread to the next by an allocator whose lock is not seen. */
static void use_heap(struct worker *w)
{
    uint32_t block = BLOCKS;
    pthread_mutex_lock(&stress.allocator);
    if (stress.free_count)
        block = stress.free[--stress.free_count];
    pthread_mutex_unlock(&stress.allocator);
    if (block == BLOCKS)
        return;
    for (uint32_t i = 0; i < 8; i++)
        use(w, HEAP, &stress.blocks[block][i]);
    if (atomic_load_explicit(&rt_memory_live, memory_order_relaxed))
        rt_order_gone((uintptr_t)stress.blocks[block], sizeof stress.blocks[block]);
    pthread_mutex_lock(&stress.allocator);
    stress.free[stress.free_count++] = block;
    pthread_mutex_unlock(&stress.allocator);
}

static void use_wild(struct worker *w, struct cell *c)
{
    enum rt_side side = (enum rt_side)draw_below(&w->random, 2);
    if (ask(w, WILD, side == RT_SIDE_FIRST ? RT_SIDE_SECOND : RT_SIDE_FIRST, c->data))
        atomic_fetch_add(&stress.raced, 1);
    track(w, WILD, side, c->data);
    if (draw_below(&w->random, 64) == 0)
        tell(w->self, RT_SYNC_SIGNAL_SEND, NULL);
}

/* --- threads --- */

/* What thread.c does when it enters a thread; NULL if there is no room. */
static struct rt_thread *enter(uint32_t parent)
{
    for (uint32_t i = 0; i < FAKES; i++) {
        if (atomic_exchange(&stress.taken[i], true))
            continue;
        struct rt_thread *t = &fakes[i];
        atomic_store(&rt_knowledge_of(t)->known, 0);
        atomic_store(&rt_knowledge_of(t)->released, 0);
        atomic_store(&rt_knowledge_of(t)->pending, 0);
        t->id = atomic_fetch_add(&stress.last_id, 1) + 1;
        t->parent = parent;
        atomic_store(&t->state, RT_THREAD_STARTING);
        return t;
    }
    return NULL;
}

static void leave(struct rt_thread *t)
{
    atomic_store(&t->state, RT_THREAD_FREE);
    atomic_store(&stress.taken[t - fakes], false);
}

static void *run_lent(void *arg)
{
    struct worker *w = arg;
    atomic_store(&w->self->state, RT_THREAD_RUNNING);
    rt_order_thread_begin(w->self);
    tell(w->self, RT_SYNC_THREAD_BEGIN, rt_thread_object(w->self->id));
    use(w, LENT, cells[LENT][w->number].data);
    use_guarded(w, &cells[GUARDED][0]);
    tell(w->self, RT_SYNC_THREAD_END, rt_thread_object(w->self->id));
    atomic_store(&w->self->state, RT_THREAD_ENDED);
    return NULL;
}

/* A cell that its owner lends to a new thread until he has joined it. */
static void lend(struct worker *w)
{
    pthread_t thread;
    struct worker child = {.self = enter(w->self->id), .number = w->number, .random = w->random};
    if (!child.self)
        return;
    use(w, LENT, cells[LENT][w->number].data);
    tell(w->self, RT_SYNC_THREAD_CREATE, rt_thread_object(child.self->id));
    if (pthread_create(&thread, NULL, run_lent, &child) != 0)
        abort();
    pthread_join(thread, NULL);
    tell(child.self, RT_SYNC_THREAD_END, rt_thread_object(child.self->id));
    tell(w->self, RT_SYNC_THREAD_JOIN, rt_thread_object(child.self->id));
    use(w, LENT, cells[LENT][w->number].data);
    leave(child.self);
    atomic_fetch_add(&stress.churned, 1);
}

static void step(struct worker *w)
{
    uint32_t cell = draw_below(&w->random, CELLS), kind = draw_below(&w->random, 64);
    if (kind < 12)
        use_guarded(w, &cells[GUARDED][cell]);
    else if (kind < 20)
        read_shared(w, &cells[SHARED][cell]);
    else if (kind < 24)
        write_shared(w, &cells[SHARED][cell]);
    else if (kind < 36)
        use_passed(w, &cells[PASSED][cell]);
    else if (kind < 48)
        use_passed_by_fences(w, &cells[PASSED_BY_FENCES][cell]);
    else if (kind < 54)
        use_heap(w);
    else if (kind < 63)
        use_wild(w, &cells[WILD][cell]);
    else if (draw_below(&w->random, 16) == 0)
        lend(w);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    atomic_store(&w->self->state, RT_THREAD_RUNNING);
    while (!atomic_load_explicit(&stress.is_over, memory_order_relaxed))
        step(w);
    atomic_store(&w->self->state, RT_THREAD_ENDED);
    return NULL;
}

/* The runtime's own thread: collects, and now and then forbids or ends everything. */
static void serve(void)
{
    uint64_t random = seed_of(99);
    struct timespec pause = {.tv_nsec = 1000000};
    int64_t end = rt_sys_monotonic_ns() + SECONDS * 1000000000ll;
    while (rt_sys_monotonic_ns() < end) {
        nanosleep(&pause, NULL);
        rt_order_collect();
        if (draw_below(&random, 8) == 0)
            rt_order_end_all();
        if (draw_below(&random, 16) == 0) {
            rt_order_allow(false);
            rt_order_allow(true);
        }
    }
}

/* --- the test --- */

static void make_cells(void)
{
    for (uint32_t task = 0; task < TASKS; task++)
        for (uint32_t i = 0; i < CELLS; i++) {
            pthread_mutex_init(&cells[task][i].mutex, NULL);
            pthread_rwlock_init(&cells[task][i].rwlock, NULL);
            atomic_store(&cells[task][i].holder, i % WORKERS);
        }
    for (uint32_t i = 0; i < BLOCKS; i++)
        stress.free[stress.free_count++] = i;
}

/* A bit that came late goes when its place is next used. */
static uint32_t count_stale_words(void)
{
    struct worker w = {.self = &fakes[0]};
    uint32_t count = 0;
    for (uint32_t i = 0; i < RT_TRACKS; i++)
        track(&w, i / RT_TRACKS_OF_TASK, RT_SIDE_FIRST, &stress.blocks[i / 8][i % 8]);
    assert_int_equal(atomic_load(&used), UINT64_MAX);
    rt_order_end_all();
    for (uint32_t i = 0; i < WORDS; i++)
        count += atomic_load(&words[i]) != 0;
    return count;
}

static void test_real_threads(void **state)
{
    (void)state;
    pthread_t threads[WORKERS];
    struct worker workers[WORKERS];
    clear_fakes(0, FAKES);
    make_cells();
    rt_order_allow(true);
    for (uint32_t i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.self = enter(0), .number = i, .random = seed_of(i)};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    serve();
    atomic_store(&stress.is_over, true);
    for (uint32_t i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    rt_order_collect();
    uint32_t stale = count_stale_words();
    print_message("%lu asked: %lu ordered, %lu raced, %lu wrong; %lu threads; %u words stale\n",
                  stress.asked, stress.ordered, stress.raced, stress.wrong, stress.churned, stale);
    assert_int_equal(stress.wrong, 0);
    assert_in_range(stale, 0, 200);
    assert_true(stress.ordered > 1000 && stress.raced > 10 && stress.churned > 0);
    assert_int_equal(atomic_load(&used), 0);
    assert_int_equal(atomic_load(&live), 0);
    assert_int_equal(atomic_load(&rt_sync_live), 0);
    assert_int_equal(atomic_load(&rt_memory_live), 0);
    for (uint32_t task = 0; task < RH_MAX_TASKS; task++)
        assert_int_equal(atomic_load(&of_task[task]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_real_threads)};
    return cmocka_run_group_tests_name("order under real threads", tests, NULL, NULL);
}
