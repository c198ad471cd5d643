/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of pauses and collisions: who collides with whom, how pauses end, and that what a thread
 * reads belongs to the pause that it collided with.
 */
#include "evidence/pause.c"

#include "detect/fakes_testing.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG_US = 60000000, MS = 1000 };

/* --- a budget that counts, and refuses on demand --- */

static _Atomic bool is_refusing;
static _Atomic int32_t begun;

bool rt_budget_pause_begin(uint64_t ns, int64_t *until_ns)
{
    if (atomic_load(&is_refusing))
        return false;
    atomic_fetch_add(&begun, 1);
    *until_ns = rt_sys_monotonic_ns() + (int64_t)ns;
    return true;
}

void rt_budget_pause_end(void)
{
    atomic_fetch_sub(&begun, 1);
}

static _Atomic uint32_t budget_forks;

void rt_budget_after_fork(void)
{
    atomic_fetch_add(&budget_forks, 1);
}

/* --- a paused thread --- */

struct holder {
    pthread_t thread;
    struct rt_thread *self;
    struct rt_access access;
    uint32_t task, us;
    enum rt_side side;
    enum rt_pause_end end;
    int64_t took_ns;
};

static void *run_holder(void *arg)
{
    struct holder *h = arg;
    int64_t began = rt_sys_monotonic_ns();
    h->end = rt_pause(h->self, h->task, h->side, &h->access, h->us);
    h->took_ns = rt_sys_monotonic_ns() - began;
    return NULL;
}

static struct rt_access access_at(uintptr_t address, uint64_t size)
{
    return (struct rt_access){.kind = RH_ACCESS_WRITE, .address = address, .size = size};
}

static void start(struct holder *h)
{
    assert_int_equal(pthread_create(&h->thread, NULL, run_holder, h), 0);
}

static void finish(struct holder *h)
{
    assert_int_equal(pthread_join(h->thread, NULL), 0);
}

static uint32_t count_waiting(void)
{
    uint32_t count = 0;
    for (int i = 0; i < SLOTS; i++)
        count += atomic_load(&slots[i].state) % SLOT_STATES == SLOT_WAITING;
    return count;
}

static void await_waiting(uint32_t count)
{
    while (count_waiting() != count)
        sched_yield();
}

static int set_up(void **state)
{
    (void)state;
    clear_fakes(0, FAKES);
    for (uint32_t i = 0; i < FAKES; i++)
        fakes[i].id = i + 1;
    return 0;
}

static int check_nothing_left(void **state)
{
    (void)state;
    atomic_store(&is_refusing, false);
    for (int i = 0; i < SLOTS; i++)
        if (atomic_load(&slots[i].state) != SLOT_FREE)
            return -1;
    return atomic_load(&paused) || atomic_load(&rt_memory_live) || atomic_load(&begun) ? -1 : 0;
}

/* One thread at 0x1000..0x1008, of task 3 and the first side. */
static struct holder usual_holder(void)
{
    return (struct holder){
        .self = &fakes[0], .access = access_at(0x1000, 8), .task = 3, .us = LONG_US};
}

static bool meets(uint32_t thread, uint32_t task, enum rt_side side, struct rt_access a)
{
    struct rt_meeting meeting;
    return rt_pause_meet(&fakes[thread], task, side, &a, RT_ANY_MOMENT, &meeting);
}

/* Those of ambushes as if they were a task's. */
static void release_all(void)
{
    for (int i = 0; i < SLOTS; i++)
        slots[i].task %= RT_PAUSE_AMBUSH;
    rt_pause_release_tasks();
}

/* --- tests --- */

static void test_nobody_comes(void **state)
{
    (void)state;
    struct holder h = usual_holder();
    h.us = 5 * MS;
    assert_false(meets(1, 3, RT_SIDE_FIRST, access_at(0x1000, 8)));
    start(&h);
    finish(&h);
    assert_int_equal(h.end, RT_PAUSE_TIMED_OUT);
    assert_true(h.took_ns >= 5 * MS * 1000);
    assert_true(h.self->paused);
    assert_false(meets(1, 3, RT_SIDE_FIRST, access_at(0x1000, 8)));
}

static void test_met(void **state)
{
    (void)state;
    struct holder h = usual_holder();
    struct rt_access a = access_at(0x1004, 8);
    struct rt_meeting meeting;
    h.access.site = 77;
    start(&h);
    await_waiting(1);
    assert_int_equal(atomic_load(&rt_memory_live), 1);
    assert_true(rt_pause_meet(&fakes[1], 3, RT_SIDE_FIRST, &a, RT_ANY_MOMENT, &meeting));
    assert_int_equal(meeting.paused.site.site, 77);
    assert_int_equal(meeting.paused.thread, h.self->id);
    assert_int_equal(meeting.paused.address, 0x1000);
    assert_int_equal(meeting.paused.size, 8);
    assert_false(rt_pause_meet(&fakes[1], 3, RT_SIDE_FIRST, &a, RT_ANY_MOMENT, &meeting));
    finish(&h);
    assert_int_equal(h.end, RT_PAUSE_MET);
    assert_true(h.took_ns / 1000 >= meeting.paused_us);
    assert_true(h.took_ns < (int64_t)LONG_US * 1000);
}

/* Others pass by; letting everybody go is not a meeting. */
static void test_who_does_not_meet(void **state)
{
    (void)state;
    struct holder h = usual_holder();
    start(&h);
    await_waiting(1);
    assert_false(meets(1, 2, RT_SIDE_FIRST, access_at(0x1000, 8)));
    assert_false(meets(1, 3, RT_SIDE_SECOND, access_at(0x1000, 8)));
    assert_false(meets(1, 3, RT_SIDE_FIRST, access_at(0x1008, 8)));
    assert_false(meets(1, 3, RT_SIDE_FIRST, access_at(0xff8, 8)));
    assert_false(meets(1, 3, RT_SIDE_FIRST, access_at(0x1004, 0)));
    assert_false(
        rt_pause_meet(h.self, 3, RT_SIDE_FIRST, &h.access, RT_ANY_MOMENT, &(struct rt_meeting){0}));
    assert_int_equal(count_waiting(), 1);
    release_all();
    finish(&h);
    assert_int_equal(h.end, RT_PAUSE_TIMED_OUT);
    assert_true(h.took_ns < (int64_t)LONG_US * 1000);
}

/* One that belongs to no task is the scout's, who goes on when tasks do not. */
static void test_ambush_outlasts_tasks(void **state)
{
    (void)state;
    struct holder h = usual_holder();
    h.task = RT_PAUSE_AMBUSH;
    start(&h);
    await_waiting(1);
    rt_pause_release_tasks();
    assert_int_equal(count_waiting(), 1);
    release_all();
    finish(&h);
    assert_int_equal(h.end, RT_PAUSE_TIMED_OUT);
}

static void test_budget_refuses(void **state)
{
    (void)state;
    struct holder h = usual_holder();
    atomic_store(&is_refusing, true);
    start(&h);
    finish(&h);
    assert_int_equal(h.end, RT_PAUSE_REFUSED);
    assert_true(h.took_ns < (int64_t)LONG_US * 1000);
    assert_false(h.self->paused);
}

/* As many as there are slots; the next one does not wait, and each is met by whom it concerns. */
static void test_all_slots(void **state)
{
    (void)state;
    static struct holder holders[SLOTS];
    struct holder more = usual_holder();
    for (uint32_t i = 0; i < SLOTS; i++) {
        holders[i] = usual_holder();
        holders[i].self = &fakes[i % FAKES];
        holders[i].access = access_at(0x1000 + i * 8, 8);
        start(&holders[i]);
    }
    await_waiting(SLOTS);
    start(&more);
    finish(&more);
    assert_int_equal(more.end, RT_PAUSE_REFUSED);
    for (uint32_t i = 0; i < SLOTS; i += 2) {
        struct rt_thread other = {.id = 1000};
        struct rt_access a = access_at(0x1000 + i * 8, 1);
        struct rt_meeting meeting;
        assert_true(rt_pause_meet(&other, 3, RT_SIDE_FIRST, &a, RT_ANY_MOMENT, &meeting));
        assert_int_equal(meeting.paused.address, 0x1000 + i * 8);
    }
    await_waiting(SLOTS / 2);
    release_all();
    for (uint32_t i = 0; i < SLOTS; i++) {
        finish(&holders[i]);
        assert_int_equal(holders[i].end, i % 2 ? RT_PAUSE_TIMED_OUT : RT_PAUSE_MET);
    }
}

/* --- ambushes --- */

static bool collides(uint32_t fake, struct rt_access a, bool writes)
{
    struct rt_meeting meeting;
    uint32_t at = 0;
    if (!rt_pause_meet_ambush(&fakes[fake], &a, writes, &at, &meeting))
        return false;
    assert_int_equal(meeting.paused.thread, fakes[0].id);
    assert_int_equal(meeting.paused.address, 0x1000);
    assert_false(rt_pause_meet_ambush(&fakes[fake], &a, writes, &at, &meeting));
    return true;
}

static void start_ambush(struct holder *h, enum rt_side side)
{
    *h = usual_holder();
    h->task = RT_PAUSE_AMBUSH;
    h->side = side;
    start(h);
    await_waiting(1);
}

static void end_ambush(struct holder *h)
{
    assert_int_equal(count_waiting(), 1); /* whoever collided has left it where it was */
    release_all();
    finish(h);
    assert_int_equal(h->end, RT_PAUSE_TIMED_OUT);
}

static void test_all_collide_with_an_ambush(void **state)
{
    (void)state;
    struct holder h;
    start_ambush(&h, RT_SIDE_SECOND);
    for (uint32_t i = 1; i < 4; i++) {
        assert_true(collides(i, access_at(0x1004, 1), false));
        assert_true(collides(i, access_at(0xff8, 9), true));
    }
    assert_false(collides(0, access_at(0x1000, 8), true)); /* its own */
    assert_false(collides(1, access_at(0x1008, 8), true));
    assert_false(meets(1, 3, RT_SIDE_SECOND, access_at(0x1000, 8))); /* it is of no task */
    end_ambush(&h);
    assert_false(collides(1, access_at(0x1000, 8), true));
}

static void test_two_reads_do_not_collide(void **state)
{
    (void)state;
    struct holder h;
    start_ambush(&h, RT_SIDE_FIRST);
    assert_false(collides(1, access_at(0x1000, 8), false));
    assert_true(collides(1, access_at(0x1000, 8), true));
    end_ambush(&h);
}

static void test_tasks_are_no_ambush(void **state)
{
    (void)state;
    struct holder h = usual_holder();
    start(&h);
    await_waiting(1);
    assert_false(collides(1, access_at(0x1000, 8), true));
    release_all();
    finish(&h);
}

static _Atomic int64_t handled_ns;

static void note_time(int number)
{
    (void)number;
    atomic_store(&handled_ns, rt_sys_monotonic_ns());
}

/* A handler might acquire, and order what collided: it runs when the pause is over. */
static void test_signals_wait_for_its_end(void **state)
{
    (void)state;
    struct holder h = usual_holder();
    struct sigaction handler = {.sa_handler = note_time}, before;
    int64_t began = rt_sys_monotonic_ns();
    sigaction(SIGUSR1, &handler, &before);
    h.us = 30 * MS;
    start(&h);
    await_waiting(1);
    for (int i = 0; i < 10; i++)
        pthread_kill(h.thread, SIGUSR1);
    finish(&h);
    sigaction(SIGUSR1, &before, NULL);
    assert_int_equal(h.end, RT_PAUSE_TIMED_OUT);
    assert_true(h.took_ns >= 30 * MS * 1000);
    assert_true(atomic_load(&handled_ns) >= began + 30 * MS * 1000);
}

/* The child has no paused thread, and its own threads can be paused. */
static void test_after_fork(void **state)
{
    (void)state;
    struct holder h = usual_holder();
    start(&h);
    await_waiting(1);
    pid_t child = fork();
    if (child == 0) {
        rt_pause_after_fork();
        bool clean = !atomic_load(&paused) && !atomic_load(&rt_memory_live) && !count_waiting() &&
                     atomic_load(&budget_forks) == 1;
        struct rt_access a = access_at(0x1000, 8);
        clean &= rt_pause(&fakes[1], 3, RT_SIDE_FIRST, &a, 100) == RT_PAUSE_TIMED_OUT;
        _exit(!clean);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    release_all();
    finish(&h);
}

/* --- under stress --- */

enum { PAUSED = 3, OTHERS = 2, STRESS_MS = 1500 };

static struct {
    _Atomic bool is_over;
    _Atomic uint64_t pauses, met, meetings, wrong;
} stress;

/* The address tells the task, and the site the pause: a mixture of two would show. */
static void *pause_often(void *arg)
{
    struct rt_thread *self = arg;
    uint64_t random = seed_of(self->id);
    for (uint32_t pause = 1; !atomic_load(&stress.is_over); pause++) {
        uint32_t task = draw_below(&random, 8);
        struct rt_access a = access_at(0x1000 + task * 64 + draw_below(&random, 8) * 8, 8);
        a.site = self->id << 24 | pause % (1 << 24);
        enum rt_pause_end end =
            rt_pause(self, task, RT_SIDE_FIRST, &a, draw_below(&random, 4) ? 20 : 2000);
        atomic_fetch_add(&stress.pauses, 1);
        atomic_fetch_add(&stress.met, end == RT_PAUSE_MET);
    }
    return NULL;
}

static bool is_whole(const struct rt_meeting *m, uint32_t task, uint32_t *last)
{
    uint32_t thread = m->paused.site.site >> 24, pause = m->paused.site.site & 0xffffff;
    bool good = m->paused.thread == thread && thread >= 1 && thread <= PAUSED &&
                m->paused.address / 64 == (0x1000 + task * 64) / 64 && m->paused.size == 8 &&
                pause > last[thread - 1];
    if (good)
        last[thread - 1] = pause;
    return good;
}

/* Nobody collides with the same pause twice, nor an earlier one after a later one. */
static void *collide_often(void *arg)
{
    struct rt_thread *self = arg;
    uint64_t random = seed_of(self->id);
    uint32_t last[PAUSED] = {0};
    while (!atomic_load(&stress.is_over)) {
        uint32_t task = draw_below(&random, 8);
        struct rt_access a = access_at(0x1000 + task * 64, 64);
        struct rt_meeting meeting;
        if (draw_below(&random, 2000) == 0)
            release_all();
        if (!rt_pause_meet(self, task, RT_SIDE_FIRST, &a, RT_ANY_MOMENT, &meeting))
            continue;
        atomic_fetch_add(&stress.meetings, 1);
        if (!is_whole(&meeting, task, last))
            atomic_fetch_add(&stress.wrong, 1);
    }
    return NULL;
}

static void test_stress(void **state)
{
    (void)state;
    pthread_t threads[PAUSED + OTHERS];
    for (uint32_t i = 0; i < PAUSED + OTHERS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, i < PAUSED ? pause_often : collide_often, &fakes[i]),
            0);
    usleep(STRESS_MS * 1000);
    atomic_store(&stress.is_over, true);
    for (uint32_t i = 0; i < PAUSED + OTHERS; i++)
        pthread_join(threads[i], NULL);
    print_message("%lu pauses, %lu met, %lu meetings\n", stress.pauses, stress.met,
                  stress.meetings);
    assert_int_equal(stress.wrong, 0);
    assert_int_equal(stress.met, stress.meetings);
    assert_true(stress.met > 0 && stress.pauses > stress.met);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, check_nothing_left)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_nobody_comes),
        CASE(test_met),
        CASE(test_who_does_not_meet),
        CASE(test_ambush_outlasts_tasks),
        CASE(test_budget_refuses),
        CASE(test_all_slots),
        CASE(test_signals_wait_for_its_end),
        CASE(test_all_collide_with_an_ambush),
        CASE(test_two_reads_do_not_collide),
        CASE(test_tasks_are_no_ambush),
        CASE(test_after_fork),
        CASE(test_stress),
    };
    return cmocka_run_group_tests_name("pause", tests, NULL, NULL);
}
