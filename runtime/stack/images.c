/* SPDX-License-Identifier: Apache-2.0 */
/* The images of the process and their call frame information: see images.h. */
#include "stack/images.h"

#include <link.h>

#include "probe.h"
#include "stack/cfi_read.h"
#include "stack/image_names.h"
#include "stack/stack.h"
#include "sys.h"

enum { FIRST_CAPACITY = 64 };

struct list {
    _Atomic uint32_t version;
    _Atomic uint32_t count;
    uint32_t capacity;
    _Atomic uint64_t words[]; /* images, sorted by address */
};

/* A list in the making, not seen by readers. */
struct draft {
    struct rt_stack_image *images;
    uint32_t count, capacity;
    uint64_t loads, unloads; /* of the whole process, as libc counts them */
    bool is_current;         /* nothing has changed since the last list */
};

_Atomic uint32_t rt_stack_generation;
_Atomic uint32_t rt_stack_lists;

static _Atomic(struct list *) current;

/* A lock: the number of the process whose thread refreshes, so that a child of fork can take over
 * from a thread that is not there. What follows is the holder's. */
static _Atomic uint32_t refresher;
static struct list *spare;
static struct draft draft;
static uint64_t loads_seen, unloads_seen;

/* --- reading, in hooks too --- */

static uint64_t word_of(struct list *l, uint32_t image, uint32_t word)
{
    return atomic_load_explicit(&l->words[(size_t)image * RT_STACK_IMAGE_WORDS + word],
                                memory_order_relaxed);
}

/* What a search in a list gives while that is written is anything, but inside the list. */
static bool search(struct list *l, uintptr_t pc, struct rt_stack_image *image)
{
    uint32_t low = 0, high = atomic_load_explicit(&l->count, memory_order_relaxed);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (word_of(l, middle, 0) <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || pc >= word_of(l, low - 1, 1))
        return false;
    for (uint32_t i = 0; i < RT_STACK_IMAGE_WORDS; i++)
        image->words[i] = word_of(l, low - 1, i);
    return true;
}

/* The list is sorted by where the code lies; data is looked for one by one. */
static bool search_spans(struct list *l, uintptr_t address, struct rt_stack_image *image)
{
    uint32_t count = atomic_load_explicit(&l->count, memory_order_relaxed);
    for (uint32_t at = 0; at < count; at++) {
        for (uint32_t i = 0; i < RT_STACK_IMAGE_WORDS; i++)
            image->words[i] = word_of(l, at, i);
        if (address >= image->span_low && address < image->span_high)
            return true;
    }
    return false;
}

static bool look_up(bool (*look)(struct list *, uintptr_t, struct rt_stack_image *),
                    uintptr_t address, struct rt_stack_image *image)
{
    /* More than one turn only if images come and go while we look. */
    for (int tries = 0; tries < 3; tries++) {
        struct list *l = atomic_load_explicit(&current, memory_order_acquire);
        if (!l)
            return false;
        uint32_t version = atomic_load_explicit(&l->version, memory_order_acquire);
        bool found = look(l, address, image);
        atomic_thread_fence(memory_order_acquire);
        if (!(version & 1) && atomic_load_explicit(&l->version, memory_order_relaxed) == version)
            return found;
    }
    return false;
}

bool rt_stack_image_at(uintptr_t pc, struct rt_stack_image *image)
{
    return look_up(search, pc, image);
}

bool rt_stack_image_around(uintptr_t address, struct rt_stack_image *image)
{
    return look_up(search_spans, address, image);
}

static void read_mark(const uint8_t *header, uint64_t mark[2])
{
    for (int i = 0; i < 2; i++) {
        struct rt_cursor c = {.at = header + 8 * i, .end = header + 8 * i + 8};
        mark[i] = rt_read_unsigned(&c, 8);
    }
}

bool rt_stack_image_is_there(const struct rt_stack_image *image)
{
    const uint8_t *header = image->tables.bytes + image->tables.header;
    uintptr_t first = (uintptr_t)header, last = first + RT_STACK_MARK_SIZE - 1;
    bool is_one_page = first / RT_PROBE_PAGE == last / RT_PROBE_PAGE;
    if (!rt_can_read(first) || (!is_one_page && !rt_can_read(last)))
        return false;
    uint64_t mark[2];
    read_mark(header, mark);
    return mark[0] == image->mark[0] && mark[1] == image->mark[1];
}

/* --- making a list --- */

static const ElfW(Phdr) * find_header(const struct dl_phdr_info *info, uint32_t type)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == type)
            return &info->dlpi_phdr[i];
    return NULL;
}

/* The loaded segment that holds this address; all of it, or up to its end, may be read. */
static const ElfW(Phdr) * find_segment(const struct dl_phdr_info *info, ElfW(Addr) address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_R && address >= p->p_vaddr &&
            address - p->p_vaddr < p->p_memsz)
            return p;
    }
    return NULL;
}

static void widen(uintptr_t *low, uintptr_t *high, uintptr_t start, uintptr_t end)
{
    *low = start < *low ? start : *low;
    *high = end > *high ? end : *high;
}

static void find_segments(const struct dl_phdr_info *info, struct rt_stack_image *image)
{
    image->base = info->dlpi_addr;
    image->low = image->span_low = UINTPTR_MAX;
    image->high = image->span_high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD)
            continue;
        widen(&image->span_low, &image->span_high, start, start + p->p_memsz);
        if (p->p_flags & PF_X)
            widen(&image->low, &image->high, start, start + p->p_memsz);
    }
}

/* Linkers put .eh_frame behind its index in the same segment; anything else is left unread. */
static void find_tables(const struct dl_phdr_info *info, struct rt_stack_image *image)
{
    image->tables = (struct rt_cfi_tables){.bytes = NULL};
    image->mark[0] = image->mark[1] = 0;
    const ElfW(Phdr) *header = find_header(info, PT_GNU_EH_FRAME);
    const ElfW(Phdr) *segment = header ? find_segment(info, header->p_vaddr) : NULL;
    if (!segment || segment->p_memsz > UINT32_MAX)
        return;
    uint64_t position = header->p_vaddr - segment->p_vaddr;
    uint64_t room = segment->p_memsz - position;
    if (room < RT_STACK_MARK_SIZE || header->p_memsz > room)
        return;
    uintptr_t address = info->dlpi_addr + segment->p_vaddr;
    image->tables = (struct rt_cfi_tables){
        .bytes = (const uint8_t *)address,
        .size = segment->p_memsz,
        .address = address,
        .header = position,
        .header_size = header->p_memsz,
    };
    read_mark(image->tables.bytes + position, image->mark);
}

/* Called by libc, with the list of images locked, for each image. */
static int add_image(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    struct draft *d = arg;
    struct rt_stack_image image;
    if (d->count == 0) {
        d->loads = info->dlpi_adds;
        d->unloads = info->dlpi_subs;
        d->is_current =
            atomic_load(&current) && d->loads == loads_seen && d->unloads == unloads_seen;
        if (d->is_current)
            return 1;
    }
    if (d->count++ >= d->capacity)
        return 0; /* counted, for the next try */
    find_segments(info, &image);
    find_tables(info, &image);
    image.name = rt_image_name(info);
    uint32_t at = d->count - 1;
    for (; at > 0 && d->images[at - 1].low > image.low; at--)
        d->images[at] = d->images[at - 1];
    d->images[at] = image;
    return 0;
}

static size_t list_size(uint32_t capacity)
{
    return sizeof(struct list) + (size_t)capacity * sizeof(struct rt_stack_image);
}

static bool grow_draft(struct draft *d)
{
    uint32_t capacity = d->capacity ? d->capacity * 2 : FIRST_CAPACITY;
    while (capacity < d->count)
        capacity *= 2;
    struct rt_stack_image *images = rt_map(capacity * sizeof *images);
    if (!images)
        return false;
    struct rt_stack_image *old = d->images;
    size_t old_size = d->capacity * sizeof *images;
    d->images = images; /* first: a child of fork may take over at any point */
    d->capacity = capacity;
    if (old)
        rt_unmap(old, old_size);
    return true;
}

static bool make_draft(struct draft *d)
{
    do {
        if ((d->count > d->capacity || !d->images) && !grow_draft(d))
            return false;
        d->count = 0;
        dl_iterate_phdr(add_image, d);
    } while (d->count > d->capacity);
    return true;
}

static bool prepare_spare(uint32_t capacity)
{
    if (spare && spare->capacity >= capacity)
        return true;
    struct list *larger = rt_map(list_size(capacity));
    if (!larger)
        return false;
    larger->capacity = capacity;
    atomic_fetch_add(&rt_stack_lists, 1);
    spare = larger;
    return true;
}

static void publish(const struct draft *d)
{
    struct list *l = spare;
    uint32_t version = atomic_load(&l->version) | 1;
    atomic_store_explicit(&l->version, version, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    for (uint32_t i = 0; i < d->count; i++)
        for (uint32_t w = 0; w < RT_STACK_IMAGE_WORDS; w++)
            atomic_store_explicit(&l->words[(size_t)i * RT_STACK_IMAGE_WORDS + w],
                                  d->images[i].words[w], memory_order_relaxed);
    atomic_store_explicit(&l->count, d->count, memory_order_relaxed);
    atomic_store_explicit(&l->version, version + 1, memory_order_release);
    spare = atomic_exchange(&current, l);
    loads_seen = d->loads;
    /* After the list: rows that are kept under the new number were made with it. */
    if (d->unloads != unloads_seen || !atomic_load(&rt_stack_generation))
        atomic_fetch_add(&rt_stack_generation, 1);
    unloads_seen = d->unloads;
}

/* The holder is at it for microseconds, and mostly there is none: waiting need not be clever, but
 * it must sleep, should the holder have the lower priority. */
static void lock(void)
{
    enum { WAIT_NS = 100000 };
    uint32_t self = (uint32_t)rt_sys_getpid();
    for (;;) {
        uint32_t holder = 0;
        if (atomic_compare_exchange_strong(&refresher, &holder, self) ||
            (holder != self && atomic_compare_exchange_strong(&refresher, &holder, self)))
            return;
        rt_sys_futex_wait(&refresher, holder, WAIT_NS);
    }
}

void rt_stack_refresh(void)
{
    lock();
    if (make_draft(&draft) && !draft.is_current && prepare_spare(draft.capacity))
        publish(&draft);
    atomic_store(&refresher, 0);
}
