/* SPDX-License-Identifier: Apache-2.0 */
/* Vector clocks: see clocks.h. Runs in hooks and in wrappers: no lock, no libc. */
#include "scout/clocks.h"

#include "scout/sync_rules.h"
#include "sys.h"

/* An epoch that is never reached: a thread that would has nothing recorded any more. */
#define LAST_EPOCH 0xfffffff0u

enum { OBJECT_BITS = 14, OBJECTS = 1 << OBJECT_BITS, LINE = 64 };

/* The latest epoch that any thread of a slot has had, in a line of its own: a thread that takes the
 * slot over begins behind it, or others would seem to know what it does. */
static struct {
    _Alignas(LINE) _Atomic uint32_t epoch;
} latest[RT_CLOCK_SLOTS];

static struct rt_clock *objects;
static _Atomic uint32_t slots; /* in use: the components that can differ from 0 */

struct rt_clocks *(*rt_clocks_of)(struct rt_thread *t);

bool rt_clocks_start(void)
{
    if (!objects)
        objects = rt_map(OBJECTS * sizeof *objects);
    return objects != NULL;
}

/* --- objects with a clock of their own --- */

/* Never taken out: an object that ends may still be waited for by a thread whose acquire has not
 * been told yet. What comes to lie at the same address later inherits its clock. */
struct owner {
    uintptr_t object;
    struct owner *next;
    struct rt_clock clock;
};

static struct owner *_Atomic *owners; /* by hash; NULL: objects share the table */

bool rt_clocks_start_exact(void)
{
    if (!owners)
        owners = rt_map(OBJECTS * sizeof *owners);
    return owners && rt_clocks_start();
}

/* Cut from pieces, whose rest is lost when another thread has begun the next one. */
static struct owner *make_owner(void)
{
    enum { PIECE = 256 };
    static struct piece {
        _Atomic uint32_t used;
        struct owner owners[PIECE];
    } * _Atomic newest;
    for (;;) {
        struct piece *piece = atomic_load(&newest);
        uint32_t at = piece ? atomic_fetch_add(&piece->used, 1) : PIECE;
        if (at < PIECE)
            return &piece->owners[at];
        struct piece *made = rt_map(sizeof *made);
        if (!made)
            return NULL;
        if (!atomic_compare_exchange_strong(&newest, &piece, made))
            rt_unmap(made, sizeof *made);
    }
}

static struct rt_clock *find_own(struct owner *_Atomic *bucket, uintptr_t object)
{
    struct owner *first = atomic_load_explicit(bucket, memory_order_acquire), *made = NULL;
    for (;;) {
        for (struct owner *o = first; o; o = o->next)
            if (o->object == object)
                return &o->clock;
        if (!made && !(made = make_owner()))
            return NULL;
        made->object = object;
        made->next = first;
        if (atomic_compare_exchange_strong(bucket, &first, made))
            return &made->clock;
    }
}

/* --- joining --- */

static void raise(_Atomic uint32_t *to, uint32_t epoch)
{
    uint32_t now = atomic_load_explicit(to, memory_order_relaxed);
    while (now < epoch && !atomic_compare_exchange_weak(to, &now, epoch))
        ;
}

static void join(struct rt_clock *into, const struct rt_clock *from)
{
    uint32_t count = atomic_load_explicit(&slots, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t epoch = atomic_load_explicit(&from->at[i], memory_order_relaxed);
        if (rt_unlikely(epoch > atomic_load_explicit(&into->at[i], memory_order_relaxed)))
            raise(&into->at[i], epoch);
    }
}

static uint32_t hash_of(uintptr_t object)
{
    return (uint32_t)(object * 0x9e3779b97f4a7c15ull >> (64 - OBJECT_BITS));
}

static struct rt_clock *clock_of(uintptr_t object)
{
    struct rt_clock *own = owners ? find_own(&owners[hash_of(object)], object) : NULL;
    return own ? own : &objects[hash_of(object)];
}

/* --- what all know --- */

struct rt_clock rt_clocks_floor;

static bool lower(struct rt_thread *t, void *arg)
{
    struct rt_clock *floor = arg;
    const struct rt_clocks *theirs = rt_clocks_of(t);
    uint32_t count = atomic_load_explicit(&slots, memory_order_relaxed);
    for (uint32_t i = 0; theirs && i < count; i++) {
        uint32_t epoch = atomic_load_explicit(&theirs->known.at[i], memory_order_relaxed);
        if (epoch < atomic_load_explicit(&floor->at[i], memory_order_relaxed))
            atomic_store_explicit(&floor->at[i], epoch, memory_order_relaxed);
    }
    return true;
}

/* A thread that has been created and has not begun knows nothing yet, and keeps the floor down. One
 * that is created meanwhile knows what its creator does. */
void rt_clocks_find_floor(void)
{
    struct rt_clock floor;
    for (uint32_t i = 0; i < RT_CLOCK_SLOTS; i++)
        atomic_init(&floor.at[i], UINT32_MAX);
    rt_thread_each(lower, &floor);
    uint32_t count = atomic_load_explicit(&slots, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++)
        raise(&rt_clocks_floor.at[i], atomic_load_explicit(&floor.at[i], memory_order_relaxed));
}

/* --- epochs --- */

static void ensure_begun(struct rt_thread *self, struct rt_clocks *mine)
{
    if (rt_unlikely(
            !atomic_load_explicit(&mine->known.at[rt_clocks_slot(self)], memory_order_relaxed)))
        rt_clocks_begin(self, mine);
}

void rt_clocks_begin(struct rt_thread *self, struct rt_clocks *mine)
{
    uint32_t slot = rt_clocks_slot(self);
    raise(&slots, slot + 1);
    uint32_t epoch = atomic_load(&latest[slot].epoch) + 1;
    raise(&latest[slot].epoch, epoch);
    raise(&mine->known.at[slot], epoch);
    for (uint32_t i = 0; self->adopted && i < RT_CLOCK_SLOTS; i++)
        raise(&mine->known.at[i], atomic_load(&latest[i].epoch));
}

/* What is done after a release is not covered by what was given away. */
uint32_t rt_clocks_use_epoch(struct rt_thread *self, struct rt_clocks *mine)
{
    ensure_begun(self, mine);
    uint32_t slot = rt_clocks_slot(self);
    uint32_t epoch = atomic_load_explicit(&mine->known.at[slot], memory_order_relaxed);
    if (epoch >= LAST_EPOCH)
        return 0;
    if (!mine->is_published)
        return epoch;
    mine->is_published = false;
    raise(&mine->known.at[slot], epoch + 1);
    raise(&latest[slot].epoch, epoch + 1);
    return epoch + 1;
}

/* --- objects --- */

static void give(struct rt_clocks *mine, uintptr_t object)
{
    join(clock_of(object), &mine->known);
    mine->is_published = true;
}

static void take(struct rt_clocks *mine, uintptr_t object)
{
    join(&mine->known, clock_of(object));
}

/* --- events --- */

struct message {
    uintptr_t to; /* a thread's object; 0: any thread */
    const struct rt_clock *clock;
};

static bool receive(struct rt_thread *t, void *arg)
{
    const struct message *m = arg;
    struct rt_clocks *theirs = rt_clocks_of(t);
    if (theirs && (!m->to || m->to == (uintptr_t)rt_thread_object(t->id)))
        join(&theirs->known, m->clock);
    return true;
}

static void send_signal(struct rt_clocks *mine, uintptr_t to)
{
    struct message m = {.to = to, .clock = &mine->known};
    rt_thread_each(receive, &m);
    mine->is_published = true;
}

void rt_clocks_sync(struct rt_thread *self, struct rt_clocks *mine, enum rt_sync what,
                    const volatile void *object)
{
    uintptr_t at = (uintptr_t)object;
    struct rt_exchange exchange = rt_exchange_of(what);
    ensure_begun(self, mine);
    if (what == RT_SYNC_SIGNAL_SEND) {
        send_signal(mine, at);
        return;
    }
    if (what == RT_SYNC_ONCE_DONE || what == RT_SYNC_ONCE_PASS)
        at = rt_atomic_object(at);
    if (what == RT_SYNC_RWLOCK_READ_UNLOCK)
        at += RT_RWLOCK_READERS;
    if (what == RT_SYNC_RWLOCK_WRITE)
        take(mine, at + RT_RWLOCK_READERS);
    if (exchange.takes)
        take(mine, at);
    if (exchange.gives)
        give(mine, at);
}

/* At a release fence: later relaxed stores give what is known now. */
static void release_all(struct rt_clocks *mine)
{
    join(&mine->released, &mine->known);
    mine->has_released = mine->is_published = true;
}

/* A relaxed store gives what was known at the last release fence. Clocks only grow, so a release
 * sequence goes on through updates, and a little longer than the standard lets it. */
void rt_clocks_before(struct rt_thread *self, struct rt_clocks *mine, const struct rt_access *a)
{
    ensure_begun(self, mine);
    if (a->kind == RH_ACCESS_FENCE) {
        if (!rt_order_releases(a->order))
            return;
        release_all(mine);
    } else if (a->kind == RH_ACCESS_ATOMIC_READ) {
        return;
    } else if (rt_order_releases(a->order)) {
        give(mine, rt_atomic_object(a->address));
    } else if (mine->has_released) {
        join(clock_of(rt_atomic_object(a->address)), &mine->released);
    }
}

/* A relaxed load brings what the next acquire fence makes known. A fence that also releases gives
 * that away, too: whoever synchronises with the fence comes before whom the fence synchronises
 * with. */
void rt_clocks_after(struct rt_thread *self, struct rt_clocks *mine, const struct rt_access *a)
{
    ensure_begun(self, mine);
    if (a->kind == RH_ACCESS_FENCE) {
        if (mine->has_pending && rt_order_acquires(a->order))
            join(&mine->known, &mine->pending);
        if (rt_order_releases(a->order))
            release_all(mine);
        return;
    }
    const struct rt_clock *clock = clock_of(rt_atomic_object(a->address));
    if (rt_order_acquires(a->order)) {
        join(&mine->known, clock);
    } else {
        join(&mine->pending, clock);
        mine->has_pending = true;
    }
}
