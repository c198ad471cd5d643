/* SPDX-License-Identifier: Apache-2.0 */
/* Happens-before on demand: see order.h. Runs in hooks and in wrappers: no lock, no libc. */
#include "order.h"

#include "scout/sync_rules.h"
#include "state.h"
#include "sys.h"

enum { WORD_BITS = 16, WORDS = 1 << WORD_BITS, TOUCHED = 128, REPLACE_ONE_IN = 8 };

/*
 * A track. `serial` is even while it is live, odd while it is free or changes: a reader that finds
 * the same even number before and after has read one track, whole. `touched` lists the words that
 * have its bit, for clearing them.
 */
struct track {
    _Atomic uint32_t serial;
    uint32_t task;
    uint32_t side;
    uint64_t began; /* a moment */
    struct rt_witness witness;
    _Atomic uint32_t touched_count;
    _Atomic uint16_t touched[TOUCHED];
};

static struct track tracks[RT_TRACKS] = {[0 ... RT_TRACKS - 1] = {.serial = 1}};
static _Atomic uint64_t words[WORDS]; /* of synchronisation objects */
static _Atomic uint64_t used;         /* tracks that are taken */
static _Atomic uint64_t live;         /* tracks that can be asked about */
static _Atomic uint64_t of_task[RH_MAX_TASKS];
static _Atomic bool is_allowed;

void (*rt_order_learned)(uint32_t task);

static uint32_t bit_index(uint64_t bits)
{
    return (uint32_t)__builtin_ctzll(bits);
}

/* --- ending --- */

static bool forget_bit(struct rt_thread *t, void *arg)
{
    uint64_t keep = ~*(const uint64_t *)arg;
    atomic_fetch_and(&rt_knowledge_of(t)->known, keep);
    atomic_fetch_and(&rt_knowledge_of(t)->released, keep);
    atomic_fetch_and(&rt_knowledge_of(t)->pending, keep);
    return true;
}

static void clear_touched(struct track *track, uint32_t count, uint64_t bit)
{
    for (uint32_t i = 0; i < count; i++)
        atomic_fetch_and(&words[atomic_load(&track->touched[i])], ~bit);
}

static void clear_all(uint64_t bit)
{
    for (uint32_t i = 0; i < WORDS; i++)
        if (atomic_load_explicit(&words[i], memory_order_relaxed) & bit)
            atomic_fetch_and(&words[i], ~bit);
}

/* The list is empty afterwards, and takes down who gives the bit when its track has ended. */
static void clear_words(struct track *track, uint64_t bit)
{
    uint32_t count = atomic_load(&track->touched_count);
    do {
        if (count <= TOUCHED)
            clear_touched(track, count, bit);
        else
            clear_all(bit);
    } while (!atomic_compare_exchange_strong(&track->touched_count, &count, 0));
}

/* Ends a track if it is still the one with this serial: only one caller succeeds. */
static bool end_track(uint32_t index, uint32_t serial)
{
    struct track *track = &tracks[index];
    uint64_t bit = 1ull << index;
    if (serial & 1 || !atomic_compare_exchange_strong(&track->serial, &serial, serial + 1))
        return false;
    atomic_fetch_and(&live, ~bit);
    atomic_fetch_and(&of_task[track->task], ~bit);
    clear_words(track, bit);
    rt_thread_each(forget_bit, &bit);
    atomic_fetch_and(&used, ~bit);
    atomic_fetch_sub(&rt_memory_live, 1);
    rt_sync_done();
    return true;
}

void rt_order_end_all(void)
{
    for (uint32_t i = 0; i < RT_TRACKS; i++)
        end_track(i, atomic_load(&tracks[i].serial));
}

/* Whoever has seen that it is allowed may still begin a track: so all are ended once more. */
void rt_order_allow(bool allowed)
{
    atomic_store(&is_allowed, allowed);
    if (!allowed)
        rt_order_end_all();
}

void rt_order_gone(uintptr_t start, uint64_t size)
{
    for (uint64_t bits = atomic_load(&live); bits; bits &= bits - 1) {
        uint32_t index = bit_index(bits), serial = atomic_load(&tracks[index].serial);
        const struct rt_witness *w = &tracks[index].witness;
        if (rt_overlaps(w->address, w->size, start, size))
            end_track(index, serial);
    }
}

/* --- beginning --- */

/* Which track has to make room, and whether. */
static uint32_t choose_below(const struct rt_thread *self, uint32_t limit)
{
    return rh_random_below(rt_state_random(self, 0), limit);
}

/* A track of this task by this thread on the same bytes: it still stands for this access, as long
 * as nobody has synchronised with it. Now and then the new one takes its place. */
static bool is_covered(struct rt_thread *self, uint32_t task, uint32_t side,
                       const struct rt_access *a)
{
    for (uint64_t bits = atomic_load(&of_task[task]); bits; bits &= bits - 1) {
        uint32_t index = bit_index(bits), serial = atomic_load(&tracks[index].serial);
        const struct track *t = &tracks[index];
        if (t->side != side || t->witness.thread != self->id ||
            !rt_overlaps(t->witness.address, t->witness.size, a->address, a->size))
            continue;
        return choose_below(self, REPLACE_ONE_IN) || !end_track(index, serial);
    }
    return false;
}

static uint32_t count_bits(uint64_t bits)
{
    uint32_t count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}

static bool make_room(struct rt_thread *self, uint32_t task)
{
    uint64_t bits = atomic_load(&of_task[task]);
    uint32_t count = count_bits(bits);
    if (count < RT_TRACKS_OF_TASK)
        return true;
    if (choose_below(self, REPLACE_ONE_IN))
        return false;
    for (uint32_t skip = choose_below(self, count); skip; skip--)
        bits &= bits - 1;
    uint32_t index = bit_index(bits);
    return end_track(index, atomic_load(&tracks[index].serial));
}

static bool take_bit(uint32_t *index)
{
    uint64_t old = atomic_load(&used);
    do {
        if (!~old)
            return false;
        *index = bit_index(~old);
    } while (!atomic_compare_exchange_weak(&used, &old, old | 1ull << *index));
    return true;
}

bool rt_order_track(struct rt_thread *self, uint32_t task, enum rt_side side,
                    const struct rt_access *a)
{
    uint32_t index;
    if (!atomic_load(&is_allowed) || is_covered(self, task, side, a) || !make_room(self, task) ||
        !take_bit(&index))
        return false;
    struct track *track = &tracks[index];
    uint64_t bit = 1ull << index;
    track->task = task;
    track->side = side;
    track->began = atomic_fetch_add(&rt_moment, 1);
    rt_witness_take(self, a, &track->witness);
    /* What came late, when the last track had ended: kept, it would be in those words for good, and
     * they are those of the objects that are used most. */
    clear_words(track, bit);
    rt_thread_each(forget_bit, &bit);
    atomic_fetch_or(&rt_knowledge_of(self)->known, bit);
    rt_sync_need();
    atomic_fetch_add(&rt_memory_live, 1);
    atomic_fetch_or(&live, bit);
    atomic_fetch_or(&of_task[task], bit);
    uint32_t serial = atomic_fetch_add(&track->serial, 1) + 1;
    if (!atomic_load(&is_allowed))
        end_track(index, serial);
    return true;
}

/* --- learning --- */

static bool is_ignorant(struct rt_thread *t, void *arg)
{
    uint64_t *bits = arg;
    uint32_t state = atomic_load(&t->state);
    if (state == RT_THREAD_STARTING)
        *bits = 0;
    else if (state == RT_THREAD_RUNNING)
        *bits &= atomic_load(&rt_knowledge_of(t)->known);
    return *bits != 0;
}

/* Ends those tracks among `bits` that every live thread has learned of. */
static void end_if_all_know(uint64_t bits)
{
    uint32_t serials[RT_TRACKS];
    for (uint64_t b = bits; b; b &= b - 1)
        serials[bit_index(b)] = atomic_load(&tracks[bit_index(b)].serial);
    rt_thread_each(is_ignorant, &bits);
    for (; bits; bits &= bits - 1) {
        uint32_t index = bit_index(bits), task = tracks[index].task;
        if (end_track(index, serials[index]) && rt_order_learned)
            rt_order_learned(task);
    }
}

void rt_order_collect(void)
{
    end_if_all_know(atomic_load(&live));
}

static void learn(struct rt_thread *self, uint64_t bits)
{
    bits &= atomic_load_explicit(&live, memory_order_relaxed) &
            ~atomic_load_explicit(&rt_knowledge_of(self)->known, memory_order_relaxed);
    if (rt_likely(!bits))
        return;
    atomic_fetch_or(&rt_knowledge_of(self)->known, bits);
    end_if_all_know(bits);
}

/* --- objects --- */

static _Atomic uint64_t *word_of(uintptr_t object)
{
    return &words[object * 0x9e3779b97f4a7c15ull >> (64 - WORD_BITS)];
}

/* Atomics of different sizes may overlap, and a C++ guard is an atomic in one place and an object
 * in another: what lies in the same granule is one object. It is as large as the largest atomic, or
 * what an update acquires through one half would have to be given to the other in the same step. */
static _Atomic uintptr_t granule_size = 8;

static uintptr_t granule(uintptr_t address)
{
    return address & -atomic_load_explicit(&granule_size, memory_order_relaxed);
}

/* Whoever learns of a track that begins later learns it through the larger granules alone. */
void rt_order_widen(void)
{
    if (atomic_exchange(&granule_size, 16) != 16)
        rt_order_end_all();
}

/* Once more if the list was emptied meanwhile, perhaps before it had this. */
static void note_touched(struct track *track, uint16_t word)
{
    uint32_t at;
    do {
        at = atomic_fetch_add(&track->touched_count, 1);
        if (at < TOUCHED)
            atomic_store(&track->touched[at], word);
    } while (atomic_load(&track->touched_count) <= at);
}

static void give(uintptr_t object, uint64_t bits)
{
    _Atomic uint64_t *word = word_of(object);
    bits &= atomic_load_explicit(&live, memory_order_relaxed);
    if (rt_likely(!(bits & ~atomic_load_explicit(word, memory_order_relaxed))))
        return;
    uint64_t new = bits & ~atomic_fetch_or(word, bits);
    for (; new; new &= new - 1)
        note_touched(&tracks[bit_index(new)], (uint16_t)(word - words));
}

static uint64_t bits_of(uintptr_t object)
{
    return atomic_load(word_of(object));
}

/* --- events --- */

static bool sync_rwlock(struct rt_thread *self, enum rt_sync what, uintptr_t object)
{
    uint64_t known = atomic_load(&rt_knowledge_of(self)->known);
    switch (what) {
    case RT_SYNC_RWLOCK_READ_UNLOCK:
        give(object + RT_RWLOCK_READERS, known);
        return true;
    case RT_SYNC_RWLOCK_WRITE:
        learn(self, bits_of(object + RT_RWLOCK_READERS));
        return false;
    default:
        return false;
    }
}

/* Whom a signal may reach, and what its sender knows. */
struct message {
    uintptr_t to; /* a thread's object; 0: any thread */
    uint64_t bits;
};

static bool receive(struct rt_thread *t, void *arg)
{
    const struct message *m = arg;
    if (!m->to || m->to == (uintptr_t)rt_thread_object(t->id))
        atomic_fetch_or(&rt_knowledge_of(t)->known, m->bits);
    return true;
}

static void send_signal(struct rt_thread *self, uintptr_t to)
{
    struct message m = {.to = to,
                        .bits = atomic_load(&live) & atomic_load(&rt_knowledge_of(self)->known)};
    if (!m.bits)
        return;
    rt_thread_each(receive, &m);
    end_if_all_know(m.bits);
}

void rt_order_sync(struct rt_thread *self, enum rt_sync what, const volatile void *object)
{
    uintptr_t at = (uintptr_t)object;
    if (what == RT_SYNC_SIGNAL_SEND) {
        send_signal(self, at);
        return;
    }
    if (what == RT_SYNC_ONCE_DONE || what == RT_SYNC_ONCE_PASS)
        at = granule(at);
    if (sync_rwlock(self, what, at))
        return;
    struct rt_exchange exchange = rt_exchange_of(what);
    if (exchange.takes)
        learn(self, bits_of(at));
    if (exchange.gives)
        give(at, atomic_load(&rt_knowledge_of(self)->known));
}

/* A relaxed store gives what was known at the last release fence. Words only grow, so a release
 * sequence goes on through updates, and a little longer than the standard lets it. */
void rt_order_before(struct rt_thread *self, const struct rt_access *a)
{
    if (rt_likely(!atomic_load_explicit(&live, memory_order_relaxed)))
        return;
    struct rt_knowledge *k = rt_knowledge_of(self);
    if (a->kind == RH_ACCESS_FENCE) {
        if (rt_order_releases(a->order))
            atomic_store(&k->released, atomic_load(&k->known));
        return;
    }
    if (a->kind == RH_ACCESS_ATOMIC_READ)
        return;
    give(granule(a->address), atomic_load(rt_order_releases(a->order) ? &k->known : &k->released));
}

/* A relaxed load brings what the next acquire fence makes known. A fence that also releases gives
 * that away, too: whoever synchronises with the fence comes before whom the fence synchronises
 * with. */
void rt_order_after(struct rt_thread *self, const struct rt_access *a)
{
    if (rt_likely(!atomic_load_explicit(&live, memory_order_relaxed)))
        return;
    struct rt_knowledge *k = rt_knowledge_of(self);
    if (a->kind == RH_ACCESS_FENCE) {
        if (rt_order_acquires(a->order))
            learn(self, atomic_load(&k->pending));
        if (rt_order_releases(a->order))
            atomic_store(&k->released, atomic_load(&k->known));
        return;
    }
    uint64_t bits = bits_of(granule(a->address));
    if (rt_order_acquires(a->order))
        learn(self, bits);
    else if (bits)
        atomic_fetch_or(&k->pending, bits);
}

/* A thread that we have not seen begin may have been made, and may have learned, in any way. */
void rt_order_thread_begin(struct rt_thread *self)
{
    if (self->adopted)
        atomic_store(&rt_knowledge_of(self)->known, UINT64_MAX);
    else if (atomic_load(&live) && self->stack_high > self->stack_low)
        rt_order_gone(self->stack_low, self->stack_high - self->stack_low);
}

/* The child has one thread: nothing that was tracked can race with it. */
void rt_order_after_fork(struct rt_thread *self)
{
    (void)self;
    rt_order_end_all();
}

/* --- asking --- */

/* Reads a track whole; false if it is not, or no longer, what is asked for. */
static bool read_match(uint32_t index, uint32_t thread, uint32_t task, uint32_t side,
                       const struct rt_access *a, uint32_t *serial)
{
    const struct track *t = &tracks[index];
    *serial = atomic_load(&t->serial);
    return !(*serial & 1) && t->task == task && t->side == side && t->witness.thread != thread &&
           rt_overlaps(t->witness.address, t->witness.size, a->address, a->size);
}

bool rt_order_has(const struct rt_thread *self, uint32_t task, enum rt_side side,
                  const struct rt_access *a)
{
    uint32_t serial;
    for (uint64_t bits = atomic_load(&of_task[task]); bits; bits &= bits - 1)
        if (read_match(bit_index(bits), self->id, task, side, a, &serial))
            return true;
    return false;
}

/* The witness is copied before the track is ended, which proves that it was whole until then. */
static bool claim(uint32_t index, uint32_t serial, struct rt_witness *first)
{
    rt_witness_copy(first, &tracks[index].witness);
    return end_track(index, serial);
}

void rt_order_compare(struct rt_thread *self, uint32_t task, enum rt_side other,
                      const struct rt_access *a, uint64_t limit,
                      struct rt_order_comparison *compared)
{
    compared->ordered = 0;
    compared->raced = false;
    for (uint64_t bits = atomic_load(&of_task[task]); bits; bits &= bits - 1) {
        uint32_t index = bit_index(bits), serial;
        if (!read_match(index, self->id, task, other, a, &serial) || tracks[index].began >= limit)
            continue;
        bool knows = atomic_load(&rt_knowledge_of(self)->known) & 1ull << index;
        if (atomic_load(&tracks[index].serial) != serial)
            continue;
        if (knows)
            compared->ordered++;
        else if (!compared->raced && claim(index, serial, &compared->first))
            compared->raced = true;
    }
}
