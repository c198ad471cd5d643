/* SPDX-License-Identifier: Apache-2.0 */
/* The most recent accesses of memory: see recent.h. Runs in hooks: no lock that waits, no libc. */
#include "scout/recent.h"

#include "keys.h"
#include "scout/clocks.h"
#include "sys.h"

enum { ENTRY_BITS = 16, ENTRIES = 1 << ENTRY_BITS };

/* Neighbours in memory are neighbours in the table, in groups: what is used together shares its
 * pages, and a page that is touched for the first time costs more than many visits. */
enum { NEAR_BITS = 5, NEAR = 1 << NEAR_BITS, GROUP_BITS = ENTRY_BITS - NEAR_BITS };
enum { STEP = NEAR * RT_GRANULE }; /* bytes whose granules are a group */

struct entry {
    _Atomic uint32_t is_busy;
    uint32_t window;
    _Atomic uintptr_t granule; /* looked at without the lock, too */
    struct rt_recent cells[RT_RECENT_CELLS];
};
_Static_assert(sizeof(struct entry) == 128, "two lines");

static struct entry *entries;
static _Atomic uint32_t used_in[1 << GROUP_BITS]; /* the last window in which a group was */
_Atomic uint64_t rt_recent_busy;

bool rt_recent_start(void)
{
    if (!entries)
        entries = rt_map(ENTRIES * sizeof *entries);
    return entries != NULL;
}

struct rt_recent rt_recent_of(const struct rt_thread *self, const struct rt_access *a,
                              uint32_t epoch)
{
    const struct rt_image *image = a->image->runtime;
    return (struct rt_recent){
        .site = rh_site_word(image->number, a->site),
        .epoch = epoch,
        .slot = (uint8_t)(rt_clocks_slot(self) % RT_CLOCK_SLOTS),
        .is_write = a->kind != RH_ACCESS_READ && a->kind != RH_ACCESS_ATOMIC_READ,
        .is_atomic = a->kind != RH_ACCESS_READ && a->kind != RH_ACCESS_WRITE,
    };
}

static uint32_t group_of(uintptr_t granule)
{
    return (uint32_t)(granule / RT_GRANULE / NEAR * 0x9e3779b97f4a7c15ull >> (64 - GROUP_BITS));
}

static struct entry *entry_of(uintptr_t granule)
{
    return &entries[group_of(granule) * NEAR + granule / RT_GRANULE % NEAR];
}

/* A thread may still be in an earlier window than others. */
static bool was_used(uint32_t window, uint32_t group)
{
    uint32_t last = atomic_load_explicit(&used_in[group], memory_order_relaxed);
    return (int32_t)(last - window) >= 0;
}

static void note_use(uint32_t window, uint32_t group)
{
    uint32_t last = atomic_load_explicit(&used_in[group], memory_order_relaxed);
    while ((int32_t)(window - last) > 0 &&
           !atomic_compare_exchange_weak(&used_in[group], &last, window))
        ;
}

/* Whoever has it may have lost the processor: nobody waits for long. */
static bool seize(struct entry *e)
{
    enum { TRIES = 64 };
    for (int i = 0; i < TRIES; i++) {
        if (!atomic_load_explicit(&e->is_busy, memory_order_relaxed) &&
            !atomic_exchange_explicit(&e->is_busy, 1, memory_order_acquire))
            return true;
        __builtin_ia32_pause();
    }
    return false;
}

static void let_go(struct entry *e)
{
    atomic_store_explicit(&e->is_busy, 0, memory_order_release);
}

static bool is_outside(const struct entry *e, uintptr_t low, uintptr_t high)
{
    uintptr_t granule = atomic_load_explicit(&e->granule, memory_order_relaxed);
    return granule < low || granule >= high;
}

static void clear(struct entry *e)
{
    for (uint32_t i = 0; i < RT_RECENT_CELLS; i++)
        e->cells[i].epoch = 0;
}

/* The cell of a new access. */
static struct rt_recent *choose(struct entry *e, const struct rt_recent *access)
{
    struct rt_recent *free = NULL, *own_read = NULL;
    for (uint32_t i = 0; i < RT_RECENT_CELLS; i++) {
        struct rt_recent *cell = &e->cells[i];
        if (!cell->epoch) {
            free = cell;
        } else if (cell->slot == access->slot) {
            if (cell->site == access->site && cell->bytes == access->bytes)
                return cell;
            if (!cell->is_write)
                own_read = cell;
        }
    }
    return free       ? free
           : own_read ? own_read
                      : &e->cells[(access->epoch + access->site) % RT_RECENT_CELLS];
}

static uint32_t copy_conflicts(const struct entry *e, const struct rt_recent *access,
                               struct rt_recent others[RT_RECENT_CELLS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < RT_RECENT_CELLS; i++)
        if (rt_recent_conflicts(&e->cells[i], access))
            others[count++] = e->cells[i];
    return count;
}

uint32_t rt_recent_visit(uint32_t window, uintptr_t granule, const struct rt_recent *access,
                         struct rt_recent others[RT_RECENT_CELLS], uint32_t *hints)
{
    struct entry *e = entry_of(granule);
    uint32_t count = 0;
    *hints = 0;
    if (!seize(e)) {
        atomic_fetch_add_explicit(&rt_recent_busy, 1, memory_order_relaxed);
        return 0;
    }
    bool is_same = !is_outside(e, granule, granule + 1);
    if (is_same && e->window == window) {
        count = copy_conflicts(e, access, others);
    } else {
        *hints = is_same ? copy_conflicts(e, access, others) : 0;
        clear(e);
        e->window = window;
        note_use(window, group_of(granule));
        atomic_store_explicit(&e->granule, granule, memory_order_relaxed);
    }
    if (access->epoch)
        *choose(e, access) = *access;
    let_go(e);
    return count;
}

uint32_t rt_recent_look(uint32_t window, uintptr_t granule, const struct rt_recent *access,
                        struct rt_recent others[RT_RECENT_CELLS])
{
    struct entry *e = entry_of(granule);
    if (rt_likely(is_outside(e, granule, granule + 1)))
        return 0;
    if (!seize(e)) {
        atomic_fetch_add_explicit(&rt_recent_busy, 1, memory_order_relaxed);
        return 0;
    }
    bool is_same = !is_outside(e, granule, granule + 1) && e->window == window;
    uint32_t count = is_same ? copy_conflicts(e, access, others) : 0;
    let_go(e);
    return count;
}

uintptr_t rt_recent_next(uint32_t window, uintptr_t at, uintptr_t end)
{
    while (at < end && !was_used(window, group_of(at)))
        at = (at & -(uintptr_t)STEP) + STEP;
    return at;
}

static bool forget(struct entry *e, uintptr_t low, uintptr_t high)
{
    if (is_outside(e, low, high))
        return true;
    if (!seize(e))
        return false;
    if (!is_outside(e, low, high))
        atomic_store_explicit(&e->granule, 0, memory_order_relaxed);
    let_go(e);
    return true;
}

static bool forget_all(uint32_t window, uintptr_t low, uintptr_t high)
{
    bool good = true;
    for (uint32_t i = 0; i < ENTRIES; i++)
        if (was_used(window, i / NEAR))
            good &= forget(&entries[i], low, high);
    return good;
}

/* Of a large block hardly any group was used. */
bool rt_recent_forget(uint32_t window, uintptr_t start, size_t size)
{
    uintptr_t at = start & -(uintptr_t)RT_GRANULE, high = start + size;
    bool good = true;
    if (!entries)
        return true;
    if ((high - at) / RT_GRANULE >= ENTRIES)
        return forget_all(window, at, high);
    while (at < high) {
        uintptr_t next = (at & -(uintptr_t)STEP) + STEP;
        if (was_used(window, group_of(at)))
            for (; at < next && at < high; at += RT_GRANULE)
                good &= forget(entry_of(at), at, at + 1);
        at = next;
    }
    return good;
}
