/* SPDX-License-Identifier: Apache-2.0 */
/* Every access of every granule: see alias/pages.h. Runs in hooks: no libc. */
#include "alias/pages.h"

#include "loss.h"
#include "sys.h"

enum { PAGE_SIZE = 4096, GRANULES = PAGE_SIZE / RT_GRANULE, BUCKET_BITS = 16 };

struct record {
    struct rt_recent access;
    struct record *next;
};

struct page {
    uintptr_t start;
    struct page *next; /* of its bucket; pages are never taken out */
    _Atomic uint32_t is_busy;
    struct record *lists[GRANULES];
};

static _Atomic(struct page *) *buckets;

bool rt_alias_start(void)
{
    buckets = rt_map(sizeof *buckets << BUCKET_BITS);
    return buckets != NULL;
}

/* --- memory --- */

/* Cut from large pieces by whoever needs it; records that are forgotten are taken first. */
static _Atomic uint32_t memory_busy;
static char *piece, *piece_end;
static struct record *spare;

static void seize(_Atomic uint32_t *busy)
{
    while (atomic_exchange_explicit(busy, 1, memory_order_acquire))
        rt_sys_yield();
}

static void let_go(_Atomic uint32_t *busy)
{
    atomic_store_explicit(busy, 0, memory_order_release);
}

static void *cut(size_t size)
{
    enum { PIECE = 1 << 20 };
    if ((size_t)(piece_end - piece) < size) {
        piece = rt_map(PIECE);
        piece_end = piece ? piece + PIECE : NULL;
    }
    void *block = piece;
    piece += block ? size : 0;
    return block;
}

static void *take(size_t size)
{
    seize(&memory_busy);
    void *block = cut(size);
    let_go(&memory_busy);
    return block;
}

static struct record *take_record(void)
{
    seize(&memory_busy);
    struct record *r = spare;
    if (r)
        spare = r->next;
    else
        r = cut(sizeof *r);
    let_go(&memory_busy);
    if (!r)
        rt_lose(RH_LOSS_COUNT);
    return r;
}

static void give_back(struct record *first)
{
    struct record *last = first;
    if (!first)
        return;
    while (last->next)
        last = last->next;
    seize(&memory_busy);
    last->next = spare;
    spare = first;
    let_go(&memory_busy);
}

/* --- pages --- */

static struct page *find_page(uintptr_t start, bool make)
{
    _Atomic(struct page *) *bucket =
        &buckets[start / PAGE_SIZE * 0x9e3779b97f4a7c15ull >> (64 - BUCKET_BITS)];
    struct page *first = atomic_load(bucket), *made = NULL;
    for (;;) {
        for (struct page *p = first; p; p = p->next)
            if (p->start == start)
                return p;
        if (!make || (!made && !(made = take(sizeof *made))))
            return NULL;
        made->start = start;
        made->next = first;
        if (atomic_compare_exchange_strong(bucket, &first, made))
            return made;
    }
}

/* --- accesses --- */

static bool is_same(const struct rt_recent *a, const struct rt_recent *b)
{
    return a->site == b->site && a->slot == b->slot && a->locks == b->locks &&
           a->bytes == b->bytes && a->is_write == b->is_write && a->is_atomic == b->is_atomic;
}

/* False if it is there already: then it comes first, since it is likely to come again. */
static bool enter(struct record **list, const struct rt_recent *access)
{
    for (struct record **at = list; *at; at = &(*at)->next) {
        struct record *r = *at;
        if (!is_same(&r->access, access))
            continue;
        *at = r->next;
        r->next = *list;
        *list = r;
        return false;
    }
    struct record *r = access->epoch ? take_record() : NULL;
    if (r) {
        r->access = *access;
        r->next = *list;
        *list = r;
    }
    return true;
}

void rt_alias_visit(uintptr_t granule, const struct rt_recent *access,
                    void (*meet)(const struct rt_recent *, const struct rt_recent *))
{
    struct page *p = find_page(granule & -(uintptr_t)PAGE_SIZE, true);
    if (!p)
        return;
    struct record **list = &p->lists[granule % PAGE_SIZE / RT_GRANULE];
    seize(&p->is_busy);
    for (struct record *r = enter(list, access) ? *list : NULL; r; r = r->next)
        if (rt_recent_conflicts(&r->access, access))
            meet(access, &r->access);
    let_go(&p->is_busy);
}

static void forget_in(struct page *p, uintptr_t low, uintptr_t high)
{
    seize(&p->is_busy);
    for (uint32_t i = 0; i < GRANULES; i++) {
        uintptr_t granule = p->start + i * (uintptr_t)RT_GRANULE;
        if (granule + RT_GRANULE <= low || granule >= high || !p->lists[i])
            continue;
        give_back(p->lists[i]);
        p->lists[i] = NULL;
    }
    let_go(&p->is_busy);
}

void rt_alias_forget(uintptr_t start, size_t size)
{
    uintptr_t high = start + size;
    for (uintptr_t at = start & -(uintptr_t)PAGE_SIZE; at < high; at += PAGE_SIZE) {
        struct page *p = find_page(at, false);
        if (p)
            forget_in(p, start, high);
    }
}

/* Threads that are not in the child may have held any of them. */
void rt_alias_after_fork(void)
{
    atomic_store(&memory_busy, 0);
    for (uint32_t i = 0; i < 1u << BUCKET_BITS; i++)
        for (struct page *p = atomic_load(&buckets[i]); p; p = p->next)
            atomic_store(&p->is_busy, 0);
}
