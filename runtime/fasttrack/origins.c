/* SPDX-License-Identifier: Apache-2.0 */
/* Where accesses come from: see origins.h. Runs in hooks: no lock, no libc. */
#include "fasttrack/origins.h"

#include "fasttrack/cell.h"
#include "keys.h"
#include "loss.h"
#include "scout/clocks.h"
#include "stack/stack.h"
#include "sys.h"

enum {
    INDEX_BITS = 17, /* twice as many places as numbers */
    TENANTS = 1 << 14,
    PIECE = 1 << 18,
};

struct origin {
    uint32_t site; /* rh_site_word */
    uint16_t frame_count, lock_count;
    uintptr_t words[]; /* the frames, then the locks that were held */
};

struct tenant {
    uint32_t epoch, thread, parent;
};

/* What a slot has, made when its first thread begins. A word of the index is the upper part of a
 * hash, and the number below. */
struct book {
    _Atomic uint32_t count;
    _Atomic uint32_t tenant_count;
    _Atomic uint64_t index[1 << INDEX_BITS];
    struct origin *_Atomic origins[RT_CELL_ORIGINS];
    struct tenant tenants[TENANTS];
};

static struct book *_Atomic books[RT_CLOCK_SLOTS];

static struct book *book_of(uint32_t slot)
{
    struct book *book = atomic_load_explicit(&books[slot], memory_order_acquire);
    if (rt_likely(book))
        return book;
    struct book *made = rt_map(sizeof *made);
    if (made && !atomic_compare_exchange_strong(&books[slot], &book, made)) {
        rt_unmap(made, sizeof *made);
        return book;
    }
    return made;
}

bool rt_origin_is_crowded(uint32_t slot)
{
    const struct book *book = atomic_load_explicit(&books[slot], memory_order_acquire);
    return book && atomic_load_explicit(&book->count, memory_order_relaxed) >= RT_CELL_ORIGINS / 2;
}

/* --- stacks --- */

/* Cut from pieces, whose rest is lost when another thread has begun the next one. */
static struct origin *take_memory(size_t size)
{
    static struct piece {
        _Atomic size_t used;
        char bytes[PIECE];
    } * _Atomic newest;
    for (;;) {
        struct piece *piece = atomic_load(&newest);
        size_t at = piece ? atomic_fetch_add(&piece->used, size) : PIECE;
        if (at + size <= PIECE)
            return (struct origin *)(piece->bytes + at);
        struct piece *made = rt_map(sizeof *made);
        if (!made)
            return NULL;
        if (!atomic_compare_exchange_strong(&newest, &piece, made))
            rt_unmap(made, sizeof *made);
    }
}

static struct origin *make_origin(const struct rt_thread *self, const struct rt_access *a)
{
    uintptr_t frames[RH_MAX_FRAMES];
    const struct rt_image *image = a->image->runtime;
    uint32_t count = a->frame ? rt_stack_at_key(self, a->frame, frames, RH_MAX_FRAMES)
                              : rt_stack_here(self, frames, RH_MAX_FRAMES);
    uint32_t locks = self->held_count < RH_MAX_LOCKS ? self->held_count : RH_MAX_LOCKS;
    struct origin *origin = take_memory(sizeof *origin + (count + locks) * sizeof frames[0]);
    if (!origin)
        return NULL;
    origin->site = rh_site_word(image->number, a->site);
    origin->frame_count = (uint16_t)count;
    origin->lock_count = (uint16_t)locks;
    volatile uintptr_t *words = origin->words; /* or it would become a call of memcpy */
    for (uint32_t i = 0; i < count; i++)
        words[i] = frames[i];
    for (uint32_t i = 0; i < locks; i++)
        words[count + i] = (uintptr_t)self->held[i].lock;
    return origin;
}

/* --- numbers --- */

static uint64_t hash_of(const struct rh_image *image, uint32_t site, uint64_t context)
{
    const struct rt_image *r = image->runtime;
    uint64_t hash = (rh_site_word(r->number, site) ^ context) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 32 ^ context) * 0xd6e8feb86659fd93ull;
    return (hash ^ hash >> 29) | 1ull << 63; /* no word of the index is 0 */
}

static uint16_t add(struct book *book, const struct rt_thread *self, const struct rt_access *a)
{
    struct origin *origin = NULL;
    if (atomic_load_explicit(&book->count, memory_order_relaxed) < RT_CELL_ORIGINS - 1)
        origin = make_origin(self, a);
    uint32_t number = origin ? atomic_fetch_add(&book->count, 1) + 1 : RT_CELL_ORIGINS;
    if (number >= RT_CELL_ORIGINS) {
        rt_lose(RH_LOSS_ORIGIN);
        return 0;
    }
    atomic_store_explicit(&book->origins[number], origin, memory_order_release);
    return (uint16_t)number;
}

/* Where the number of a hash is, or where it has room; NULL if neither is near. */
static _Atomic uint64_t *find_place(struct book *book, uint64_t hash)
{
    enum { TRIES = 64 };
    uint64_t at = hash * 0x9e3779b97f4a7c15ull >> (64 - INDEX_BITS);
    for (uint32_t i = 0; i < TRIES; i++, at = (at + 1) % (1u << INDEX_BITS)) {
        uint64_t word = atomic_load_explicit(&book->index[at], memory_order_acquire);
        if (!word || !((word ^ hash) >> RT_ORIGIN_NUMBER_BITS))
            return &book->index[at];
    }
    return NULL;
}

uint16_t rt_origin_of(const struct rt_thread *self, uint32_t slot, const struct rt_access *a,
                      uint64_t context)
{
    struct book *book = book_of(slot);
    uint64_t hash = hash_of(a->image, a->site, context);
    _Atomic uint64_t *place = book ? find_place(book, hash) : NULL;
    if (rt_unlikely(!place)) {
        rt_lose(RH_LOSS_ORIGIN);
        return 0;
    }
    uint16_t number = (uint16_t)atomic_load(place);
    if (!number && (number = add(book, self, a)))
        atomic_store(place, (hash & ~0xffffull) | number);
    return number;
}

/* --- numbers by key --- */

_Atomic uint64_t *_Atomic rt_origin_latest[RT_CLOCK_SLOTS][RT_ORIGIN_IMAGES];

static _Atomic uint64_t *make_latest(uint32_t slot, const struct rt_image *image)
{
    _Atomic uint64_t *none = NULL, *made = rt_map(image->key_count * sizeof *made);
    if (made &&
        !atomic_compare_exchange_strong(&rt_origin_latest[slot][image->number], &none, made)) {
        rt_unmap((void *)(uintptr_t)made, image->key_count * sizeof *made);
        return none;
    }
    return made;
}

static void keep_latest(uint32_t slot, const struct rt_image *image, uint32_t key, uint64_t context,
                        uint16_t number)
{
    if (image->number >= RT_ORIGIN_IMAGES)
        return;
    _Atomic uint64_t *words =
        atomic_load_explicit(&rt_origin_latest[slot][image->number], memory_order_relaxed);
    if (words || (words = make_latest(slot, image)))
        atomic_store_explicit(&words[key], context << RT_ORIGIN_NUMBER_BITS | number,
                              memory_order_relaxed);
}

uint16_t rt_origin_at_key(const struct rt_thread *self, uint32_t slot, const struct rt_access *a,
                          uint64_t context)
{
    const struct rt_image *image = a->image->runtime;
    uint32_t key = (uint32_t)a->frame->key;
    uint16_t number = rt_origin_find(slot, a->image, key, context);
    if (rt_likely(number))
        return number;
    number = rt_origin_of(self, slot, a, context);
    keep_latest(slot, image, key, context, number);
    return number;
}

uint16_t rt_origin_seek(uint32_t slot, const struct rh_image *image, uint32_t key, uint64_t context)
{
    struct book *book = atomic_load_explicit(&books[slot], memory_order_acquire);
    if (!book || image->keys[key].site_count != 1)
        return 0;
    _Atomic uint64_t *place =
        find_place(book, hash_of(image, image->keys[key].first_site, context));
    uint16_t number = place ? (uint16_t)atomic_load(place) : 0;
    if (number)
        keep_latest(slot, image->runtime, key, context, number);
    return number;
}

/* --- threads --- */

void rt_origins_begin(const struct rt_thread *self, uint32_t slot, uint32_t epoch)
{
    struct book *book = book_of(slot);
    if (!book)
        return;
    uint32_t at = atomic_load(&book->tenant_count);
    book->tenants[at % TENANTS] =
        (struct tenant){.epoch = epoch, .thread = self->id, .parent = self->parent};
    atomic_store(&book->tenant_count, at + 1);
}

/* The last that began before the epoch; those from long ago are forgotten. */
static void recall_thread(const struct book *book, uint32_t epoch, struct rt_witness *w)
{
    uint32_t count = atomic_load(&book->tenant_count);
    uint32_t oldest = count > TENANTS ? count - TENANTS : 0;
    w->thread = w->parent = 0;
    for (uint32_t i = count; i-- > oldest;) {
        const struct tenant *t = &book->tenants[i % TENANTS];
        if (t->epoch > epoch)
            continue;
        w->thread = t->thread;
        w->parent = t->parent;
        return;
    }
}

bool rt_origin_recall(uint32_t slot, uint32_t epoch, uint16_t number, struct rt_witness *w)
{
    const struct book *book = atomic_load(&books[slot]);
    const struct origin *origin = book ? atomic_load(&book->origins[number]) : NULL;
    if (!origin)
        return false;
    w->site = rh_site_name_of(origin->site);
    w->frame_count = origin->frame_count;
    w->lock_count = origin->lock_count;
    for (uint32_t i = 0; i < origin->frame_count; i++)
        ((volatile uintptr_t *)w->frames)[i] = origin->words[i];
    for (uint32_t i = 0; i < origin->lock_count; i++)
        ((volatile uintptr_t *)w->locks)[i] = origin->words[origin->frame_count + i];
    recall_thread(book, epoch, w);
    return true;
}
