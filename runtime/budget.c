/* SPDX-License-Identifier: Apache-2.0 */
/* What the run loses to us: see budget.h. */
#include "budget.h"

#include <sys/syscall.h>
#include <time.h>

#include "service.h"
#include "sys.h"

/* The way from the key to rt_hook and back, which is not between the two readings of the clock. */
enum { UNMEASURED_TICKS = 40 };
enum { LONG_US = 10 };
/* A run that has just begun may spend what this much time earns, or nothing could ever start. */
enum { GRACE_NS = 500000000 };

/* Of wall time so much counts in full, or a server that is tried for some seconds shows nothing. */
#define FREE_NS 5000000000ull

/* What tasks may take of the budget beside a scout: one in so many parts. */
enum { TASKS_SHARE = 8 };

_Atomic bool rt_budget_alarm, rt_budget_tasks_alarm;
_Atomic bool rt_budget_slice_over = true;
_Atomic bool rt_meter_events_are_scouts;

static uint64_t share; /* parts per million */
static uint64_t floor_ns;
static int64_t began_ns;
static uint64_t began_ticks;
static _Atomic uint64_t ticks_per_us = 2000;      /* until the first tick has measured it */
static _Atomic uint64_t taken[RT_METER_COUNT];    /* ticks */
static _Atomic uint64_t hook_budget = UINT64_MAX; /* of hooks and events, in ticks */

static _Atomic bool is_shared; /* tasks have a share of it */

static _Atomic uint64_t slice_end = UINT64_MAX; /* of `taken`, summed */

/* --- hooks and events --- */

static uint64_t processor_ns(void)
{
    struct timespec used = {0};
    rt_arch_syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, (long)&used, 0, 0, 0, 0);
    return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* a * b / c for numbers whose product may not fit, without a library function of the compiler's. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
    return a / c * b + a % c * b / c;
}

static uint64_t share_of(uint64_t ns)
{
    return scale(ns, share, 1000000);
}

void rt_budget_start(uint64_t overhead, uint64_t floor_ms)
{
    share = overhead;
    floor_ns = floor_ms * 1000000;
    began_ns = rt_sys_monotonic_ns();
    began_ticks = rt_arch_ticks();
    atomic_store(&hook_budget, scale(share_of(GRACE_NS), atomic_load(&ticks_per_us), 1000));
}

static uint64_t all_taken(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < RT_METER_COUNT; i++)
        sum += atomic_load_explicit(&taken[i], memory_order_relaxed);
    return sum;
}

/* A quarter, or so much that it is worth to begin again. */
static uint64_t enough_again(uint64_t size, uint64_t rate)
{
    enum { WORTH_US = 5000 };
    return size / 4 < WORTH_US * rate ? size / 4 : WORTH_US * rate;
}

void rt_budget_share(void)
{
    atomic_store(&is_shared, true);
}

static uint64_t share_of_tasks(uint64_t size)
{
    return atomic_load_explicit(&is_shared, memory_order_relaxed) ? size / TASKS_SHARE : size;
}

static uint64_t taken_by_tasks(void)
{
    return atomic_load_explicit(&taken[RT_METER_TASKS], memory_order_relaxed);
}

/* Sets an alarm, or takes it back. */
static void look_at(_Atomic bool *alarm, uint64_t used, uint64_t size, uint64_t rate)
{
    if (used > size)
        atomic_store(alarm, true);
    else if (size - used >= enough_again(size, rate))
        atomic_store(alarm, false);
}

static uint64_t elapsed(uint64_t processor, uint64_t wall)
{
    enum { PER_PROCESSOR = 2 };
    uint64_t most = processor * PER_PROCESSOR + FREE_NS;
    return processor > wall ? processor : wall < most ? wall : most;
}

void rt_budget_tick(void)
{
    uint64_t wall = (uint64_t)(rt_sys_monotonic_ns() - began_ns);
    if (wall < 1000000)
        return;
    uint64_t rate = (rt_arch_ticks() - began_ticks) / (wall / 1000);
    atomic_store(&ticks_per_us, rate ? rate : 1);
    uint64_t ns = share_of(elapsed(processor_ns(), wall) + GRACE_NS);
    uint64_t size = scale(ns, rate, 1000);
    atomic_store(&hook_budget, size);
    look_at(&rt_budget_alarm, all_taken(), size, rate);
    look_at(&rt_budget_tasks_alarm, taken_by_tasks(), share_of_tasks(size), rate);
    if (atomic_load(&rt_budget_alarm))
        atomic_store(&rt_budget_tasks_alarm, true);
}

static void charge(enum rt_meter meter, uint64_t ticks)
{
    atomic_fetch_add_explicit(&taken[meter], ticks, memory_order_relaxed);
    uint64_t sum = all_taken(), size = atomic_load_explicit(&hook_budget, memory_order_relaxed);
    bool wakes = sum > size && !atomic_exchange(&rt_budget_alarm, true);
    wakes |= (sum > size || taken_by_tasks() > share_of_tasks(size)) &&
             !atomic_exchange(&rt_budget_tasks_alarm, true);
    wakes |= sum > atomic_load_explicit(&slice_end, memory_order_relaxed) &&
             !atomic_exchange(&rt_budget_slice_over, true);
    if (wakes)
        rt_service_wake();
}

void rt_budget_slice(uint64_t ns)
{
    atomic_store(&slice_end, all_taken() + scale(ns, atomic_load(&ticks_per_us), 1000));
    atomic_store(&rt_budget_slice_over, false);
}

uint64_t rt_budget_spare(void)
{
    uint64_t size = atomic_load(&hook_budget), used = all_taken();
    uint64_t left = used < size ? scale(size - used, 1000, atomic_load(&ticks_per_us)) : 0;
    uint64_t tasks = rt_budget_spent(RT_METER_TASKS), kept = share_of(GRACE_NS) / TASKS_SHARE;
    kept = tasks < kept ? kept - tasks : 0;
    return left > kept ? left - kept : 0;
}

/* No hook takes as long as LONG_US but for one that lost the processor: that time is not ours, and
 * on a busy machine it would soon be the whole budget. */
void rt_meter_add(enum rt_meter meter, uint64_t ticks)
{
    uint64_t longest = LONG_US * atomic_load_explicit(&ticks_per_us, memory_order_relaxed);
    charge(meter, ((ticks < longest ? ticks : longest) + UNMEASURED_TICKS) * RT_METER_EVERY);
}

void rt_meter_charge(enum rt_meter meter, uint64_t ns)
{
    charge(meter, scale(ns, atomic_load(&ticks_per_us), 1000));
}

uint64_t rt_budget_spent(enum rt_meter meter)
{
    return scale(atomic_load(&taken[meter]), 1000, atomic_load(&ticks_per_us));
}

/* --- pauses --- */

/* Until when pauses are paid for, in microseconds of the run, and how many are under way: one word,
 * so that beginning and ending are one step each. */
#define COUNT_BITS 12
#define COUNT_MASK ((1u << COUNT_BITS) - 1)

static _Atomic uint64_t cover;
static _Atomic uint64_t paid_us; /* for time that is covered */
static _Atomic uint64_t
    reserved_us; /* by those who are about to pay, or to find that they cannot */

static uint64_t now_us(void)
{
    return (uint64_t)(rt_sys_monotonic_ns() - began_ns) / 1000;
}

/* How much longer pauses are paid for. */
static uint64_t ahead_of(uint64_t word, uint64_t now)
{
    uint64_t until = word >> COUNT_BITS;
    return word & COUNT_MASK && until > now ? until - now : 0;
}

/* What a pause from now on adds to that. */
static uint64_t price_of(uint64_t word, uint64_t now, uint64_t us)
{
    uint64_t ahead = ahead_of(word, now);
    return us > ahead ? us - ahead : 0;
}

uint64_t rt_budget_paused(void)
{
    uint64_t ahead = ahead_of(atomic_load(&cover), now_us()), paid = atomic_load(&paid_us);
    return paid > ahead ? (paid - ahead) * 1000 : 0;
}

static uint64_t pause_budget_us(uint64_t now)
{
    return share_of(now * 1000 > floor_ns ? now * 1000 : floor_ns) / 1000;
}

uint64_t rt_budget_pause_room(uint64_t ns)
{
    enum { MILLION = 1000000 };
    uint64_t now = now_us(), us = ns / 1000;
    uint64_t size = pause_budget_us(now) + share_of(ns) / 1000;
    uint64_t spent = atomic_load(&paid_us) + price_of(atomic_load(&cover), now, us);
    return spent < size ? scale(size - spent, MILLION, size) : 0;
}

bool rt_budget_pause_begin(uint64_t ns, int64_t *until_ns)
{
    uint64_t now = now_us(), us = ns / 1000, size = pause_budget_us(now);
    uint64_t word = atomic_load(&cover), next, price;
    for (;;) {
        price = price_of(word, now, us);
        uint64_t reserved = atomic_fetch_add(&reserved_us, price) + price;
        if (atomic_load(&paid_us) + reserved > size || (word & COUNT_MASK) == COUNT_MASK) {
            atomic_fetch_sub(&reserved_us, price);
            return false;
        }
        next = (price ? (now + us) << COUNT_BITS | (word & COUNT_MASK) : word) + 1;
        if (atomic_compare_exchange_strong(&cover, &word, next))
            break;
        atomic_fetch_sub(&reserved_us, price);
    }
    atomic_fetch_add(&paid_us, price);
    atomic_fetch_sub(&reserved_us, price);
    *until_ns = began_ns + (int64_t)(now + us) * 1000;
    return true;
}

/* The last one has back what was paid for later than now. The clock is read after the word, and
 * again when that has changed: others may have been paused on and on since. */
void rt_budget_pause_end(void)
{
    uint64_t word = atomic_load(&cover), next, ahead;
    do {
        bool is_last = (word & COUNT_MASK) == 1;
        ahead = is_last ? ahead_of(word, now_us()) : 0;
        next = word - 1 - (ahead << COUNT_BITS);
    } while (!atomic_compare_exchange_strong(&cover, &word, next));
    atomic_fetch_sub(&paid_us, ahead);
}

void rt_budget_after_fork(void)
{
    atomic_fetch_sub(&paid_us, ahead_of(atomic_load(&cover), now_us()));
    atomic_store(&reserved_us, 0);
    atomic_store(&cover, 0);
}
