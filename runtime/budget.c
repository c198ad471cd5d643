/* What the run loses to us: see budget.h. */
#include "budget.h"

#include <sys/syscall.h>
#include <time.h>

#include "service.h"
#include "sys.h"

/* The way from the key to rt_hook and back, which is not between the two readings of the clock. */
enum { UNMEASURED_TICKS = 40 };
/* A run that has just begun may spend what this much time earns, or nothing could ever start. */
enum { GRACE_NS = 250000000 };

_Atomic bool rt_budget_alarm;

static uint64_t share; /* parts per million */
static uint64_t floor_ns;
static int64_t began_ns;
static uint64_t began_ticks;
static _Atomic uint64_t ticks_per_us = 2000;   /* until the first tick has measured it */
static _Atomic uint64_t taken[RT_METER_COUNT]; /* ticks */
static _Atomic uint64_t purse = UINT64_MAX;    /* of hooks and events, in ticks */

/* --- hooks and events --- */

void rt_budget_start(uint64_t overhead, uint64_t floor_ms)
{
    share = overhead;
    floor_ns = floor_ms * 1000000;
    began_ns = rt_sys_monotonic_ns();
    began_ticks = rt_arch_ticks();
}

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

static uint64_t all_taken(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < RT_METER_COUNT; i++)
        sum += atomic_load_explicit(&taken[i], memory_order_relaxed);
    return sum;
}

void rt_budget_tick(void)
{
    uint64_t wall = (uint64_t)(rt_sys_monotonic_ns() - began_ns);
    if (wall < 1000000)
        return;
    uint64_t rate = (rt_arch_ticks() - began_ticks) / (wall / 1000);
    atomic_store(&ticks_per_us, rate ? rate : 1);
    uint64_t processor = processor_ns();
    uint64_t ns = share_of((processor > wall ? processor : wall) + GRACE_NS);
    uint64_t size = scale(ns, rate, 1000);
    atomic_store(&purse, size);
    if (all_taken() > size)
        atomic_store(&rt_budget_alarm, true);
    else if (all_taken() <= size - size / 4)
        atomic_store(&rt_budget_alarm, false);
}

void rt_meter_add(enum rt_meter meter, uint64_t ticks)
{
    rt_meter_charge(meter, (ticks + UNMEASURED_TICKS) * RT_METER_EVERY);
}

void rt_meter_charge(enum rt_meter meter, uint64_t ticks)
{
    atomic_fetch_add_explicit(&taken[meter], ticks, memory_order_relaxed);
    if (all_taken() > atomic_load_explicit(&purse, memory_order_relaxed) &&
        !atomic_exchange(&rt_budget_alarm, true))
        rt_service_wake();
}

uint64_t rt_budget_spent(enum rt_meter meter)
{
    return scale(atomic_load(&taken[meter]), 1000, atomic_load(&ticks_per_us));
}

/* --- pauses: one word holds how many threads are held and, if any, since when, so that beginning
 * and ending are one step each --- */

#define HELD_BITS 12
#define HELD_MASK ((1u << HELD_BITS) - 1)

static _Atomic uint64_t held;        /* since, in microseconds of the run, and count */
static _Atomic uint64_t paused_us;   /* of pauses that have ended */
static _Atomic uint64_t promised_us; /* to pauses under way */

static uint64_t now_us(void)
{
    return (uint64_t)(rt_sys_monotonic_ns() - began_ns) / 1000;
}

static uint64_t current_us(uint64_t word, uint64_t now)
{
    uint64_t since = word >> HELD_BITS;
    return word & HELD_MASK && now > since ? now - since : 0;
}

uint64_t rt_budget_paused(void)
{
    return (atomic_load(&paused_us) + current_us(atomic_load(&held), now_us())) * 1000;
}

uint64_t rt_budget_pause_room(uint64_t ns)
{
    enum { MILLION = 1000000 };
    uint64_t now = now_us(), us = ns / 1000;
    uint64_t time_us = (now * 1000 > floor_ns ? now : floor_ns / 1000) + us;
    uint64_t size = share_of(time_us);
    uint64_t spent = atomic_load(&paused_us) + current_us(atomic_load(&held), now) + us;
    return spent < size ? scale(size - spent, MILLION, size) : 0;
}

/* Overlapping pauses are promised one after the other, which is more than they can take. */
bool rt_budget_pause_begin(uint64_t ns)
{
    uint64_t now = now_us(), us = ns / 1000;
    uint64_t time_ns = now * 1000 > floor_ns ? now * 1000 : floor_ns;
    uint64_t word = atomic_load(&held), next;
    uint64_t promised = atomic_fetch_add(&promised_us, us) + us;
    bool fits =
        atomic_load(&paused_us) + current_us(word, now) + promised <= share_of(time_ns) / 1000;
    do {
        if (!fits || (word & HELD_MASK) == HELD_MASK) {
            atomic_fetch_sub(&promised_us, us);
            return false;
        }
        next = word & HELD_MASK ? word + 1 : now_us() << HELD_BITS | 1;
    } while (!atomic_compare_exchange_weak(&held, &word, next));
    return true;
}

/* The clock is read after the word, and again when that has changed: others may have been held on
 * and on since. */
void rt_budget_pause_end(uint64_t ns)
{
    uint64_t word = atomic_load(&held), next, now;
    do {
        now = now_us();
        next = (word & HELD_MASK) == 1 ? 0 : word - 1;
    } while (!atomic_compare_exchange_weak(&held, &word, next));
    if (!next)
        atomic_fetch_add(&paused_us, current_us(word, now));
    atomic_fetch_sub(&promised_us, ns / 1000);
}

void rt_budget_after_fork(void)
{
    atomic_store(&held, 0);
    atomic_store(&promised_us, 0);
}
