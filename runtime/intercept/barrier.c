/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers: each arrival of a phase comes before each leaving of that phase, and a slow leaver must
 * not learn of the next phase, in which faster threads may already have arrived.
 *
 * So a barrier has two objects, for odd and even phases: an arrival releases to its phase's object,
 * a leaving acquires from it. Two are enough: phase n + 2 has its first arrival only when phase n +
 * 1 is complete, so when every thread of phase n has left it.
 *
 * Which phase an arrival belongs to, we count ourselves: every `count` arrivals make one. As long
 * as at most `count` threads are between arriving and leaving, that is the real phase. For suppose
 * our count gave a thread phase n + 1 while the real barrier let it into phase n, in the place of
 * one of the `count` threads that we had counted there before. None of those can have left phase n
 * yet, so with this thread more than `count` are inside. Then the barrier is *crowded*, which is
 * seen in the same atomic step that counts the arrival, before the thread enters the real barrier.
 * In a crowded barrier arrivals release to both objects and leavings acquire from both: nothing is
 * missed, at the price of learning too much. Those who left their release in one object before it
 * became crowded are covered too, because whoever leaves after the crowding thread entered acquires
 * both.
 *
 * Counting goes on while events are off: they may be switched on in the middle of a phase.
 *
 * The objects are not at the barrier's address: the thread that leaves first may destroy the
 * barrier and make a new one in its place while others are still on their way out of our wrapper.
 * They are slots of our table, and a slot is free again when the last thread has left it.
 */
#include "intercept/real.h"
#include "loss.h"
#include "sync.h"

enum { GROUPS = 64, GROUP_SIZE = 8 };

/* Not addresses of barriers. */
enum { SLOT_FREE = 0, SLOT_CLAIMED = 1, SLOT_DYING = 2 };

struct slot {
    _Atomic uintptr_t barrier;
    _Atomic uint64_t state;
    uint32_t count;
};

/* A barrier is looked for only in the group its address chooses. */
static struct slot slots[GROUPS][GROUP_SIZE];

/* The state in one word, so that an arrival is one step. */
#define STATE_INSIDE  0x000000007fffffffull /* threads between arriving and leaving */
#define STATE_ODD     0x0000000080000000ull /* phase now filling */
#define STATE_ARRIVED 0x3fffffff00000000ull /* arrivals in that phase */
#define STATE_CROWDED 0x4000000000000000ull
#define STATE_DYING   0x8000000000000000ull
#define ARRIVED_UNIT  0x0000000100000000ull

static struct slot *group_of(uintptr_t barrier)
{
    return slots[(barrier >> 4) * 0x9e3779b97f4a7c15ull >> 58];
}
_Static_assert(GROUPS == 1 << (64 - 58), "group_of takes the upper six bits");

static struct slot *find_slot(uintptr_t barrier)
{
    struct slot *group = group_of(barrier);
    for (int i = 0; i < GROUP_SIZE; i++)
        if (atomic_load(&group[i].barrier) == barrier)
            return &group[i];
    return NULL;
}

/* Not two bytes of one word: a detector may take those for the same object. */
static const char *object_of(const struct slot *slot, bool odd)
{
    return (const char *)slot + (odd ? sizeof(uint64_t) : 0);
}

static void free_slot(struct slot *slot)
{
    rt_sync(RT_SYNC_OBJECT_DESTROY, object_of(slot, false));
    rt_sync(RT_SYNC_OBJECT_DESTROY, object_of(slot, true));
    atomic_store(&slot->barrier, SLOT_FREE);
}

/* The barrier is gone, but threads may still be leaving it. */
static void give_up_slot(uintptr_t barrier)
{
    struct slot *slot = find_slot(barrier);
    if (!slot)
        return;
    atomic_store(&slot->barrier, SLOT_DYING);
    if ((atomic_fetch_or(&slot->state, STATE_DYING) & STATE_INSIDE) == 0)
        free_slot(slot);
}

static void claim_slot(uintptr_t barrier, uint32_t count)
{
    struct slot *group = group_of(barrier);
    for (int i = 0; i < GROUP_SIZE; i++) {
        uintptr_t free = SLOT_FREE;
        if (!atomic_compare_exchange_strong(&group[i].barrier, &free, SLOT_CLAIMED))
            continue;
        group[i].count = count;
        atomic_store(&group[i].state, 0);
        rt_sync(RT_SYNC_OBJECT_INIT, object_of(&group[i], false));
        rt_sync(RT_SYNC_OBJECT_INIT, object_of(&group[i], true));
        atomic_store(&group[i].barrier, barrier);
        return;
    }
}

/* Arrivals in other processes are not counted here, so their phases are not known. */
static bool is_shared(const pthread_barrierattr_t *attr)
{
    int shared = PTHREAD_PROCESS_PRIVATE;
    return attr && pthread_barrierattr_getpshared(attr, &shared) == 0 &&
           shared != PTHREAD_PROCESS_PRIVATE;
}

RT_WRAPPER(int, pthread_barrier_init,
           (pthread_barrier_t * b, const pthread_barrierattr_t *a, unsigned n))
{
    int result = RT_REAL(pthread_barrier_init)(b, a, n);
    if (result || atomic_load(&rt_mode) != RT_MODE_LIVE)
        return result;
    give_up_slot((uintptr_t)b);
    if (!is_shared(a))
        claim_slot((uintptr_t)b, n);
    RT_TELL(b, RT_SYNC_OBJECT_INIT);
    return result;
}

/* Not before it is destroyed: the real function waits until the last thread has left the barrier.
 */
RT_WRAPPER(int, pthread_barrier_destroy, (pthread_barrier_t * b))
{
    int result = RT_REAL(pthread_barrier_destroy)(b);
    if (rt_sync_is_live())
        rt_sync_use(b, sizeof *b, RT_SYNC_OBJECT_DESTROY, RT_CALLER);
    if (result == 0 && atomic_load(&rt_mode) == RT_MODE_LIVE)
        give_up_slot((uintptr_t)b);
    return result;
}

/* Counts an arrival; the state it found says which phase it is in. */
static uint64_t arrive(struct slot *slot)
{
    uint64_t old = atomic_load(&slot->state), new;
    do {
        new = old + ARRIVED_UNIT + 1;
        if ((new &STATE_ARRIVED) / ARRIVED_UNIT == slot->count)
            new = (new & ~STATE_ARRIVED) ^ STATE_ODD;
        if ((new &STATE_INSIDE) > slot->count)
            new |= STATE_CROWDED;
    } while (!atomic_compare_exchange_weak(&slot->state, &old, new));
    return (old & STATE_ODD) | (new &STATE_CROWDED);
}

static void tell(enum rt_sync what, const struct slot *slot, bool odd, bool crowded)
{
    rt_sync(what, object_of(slot, odd));
    if (crowded)
        rt_sync(what, object_of(slot, !odd));
}

static int wait_tracked(pthread_barrier_t *b, struct slot *slot)
{
    uint64_t arrival = arrive(slot);
    bool odd = arrival & STATE_ODD;
    tell(RT_SYNC_BARRIER_ARRIVE, slot, odd, arrival & STATE_CROWDED);
    int result = RT_REAL(pthread_barrier_wait)(b);
    tell(RT_SYNC_BARRIER_LEAVE, slot, odd, atomic_load(&slot->state) & STATE_CROWDED);
    uint64_t old = atomic_fetch_sub(&slot->state, 1);
    if ((old & STATE_DYING) && (old & STATE_INSIDE) == 1)
        free_slot(slot);
    return result;
}

/* Told of before the arrival, not after the real call: by then the first that left may have
 * destroyed the barrier, as it may. */
RT_WRAPPER(int, pthread_barrier_wait, (pthread_barrier_t * b))
{
    if (atomic_load(&rt_mode) != RT_MODE_LIVE)
        return RT_REAL(pthread_barrier_wait)(b);
    if (rt_sync_is_live())
        rt_sync_use(b, sizeof *b, RT_SYNC_BARRIER_ARRIVE, RT_CALLER);
    struct slot *slot = find_slot((uintptr_t)b);
    if (slot)
        return wait_tracked(b, slot);
    rt_lose(RH_LOSS_BARRIER);
    rt_sync(RT_SYNC_BARRIER_ARRIVE, b);
    int result = RT_REAL(pthread_barrier_wait)(b);
    rt_sync(RT_SYNC_BARRIER_LEAVE, b);
    return result;
}
