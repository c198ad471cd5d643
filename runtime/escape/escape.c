/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic escape analysis: see escape.h. Runs in hooks: no libc. */
#include "escape/escape.h"

#include "escape/heap.h"
#include "loss.h"
#include "sys.h"

/* A rule of propagation: tests switch off one at a time, and something must fail. */
#ifndef RULE
#define RULE(name) true
#endif

/* Some program stored a pointer at an address that is no multiple of its size: from then on words
 * are looked for everywhere. */
static _Atomic bool is_packed;

bool rt_escape_start(void)
{
    return rt_heap_start();
}

void rt_escape_begin(struct rt_escape *own)
{
    own->has_stack = false;
    own->gone = 0;
    own->length = 0;
}

/* Origins that a racy store has made reachable. */
static _Atomic bool racy[1 << 16];
static _Atomic uint32_t racy_count;

bool rt_escape_is_racy(uint16_t origin)
{
    return atomic_load_explicit(&racy[origin], memory_order_relaxed);
}

uint32_t rt_escape_racy_count(void)
{
    return atomic_load_explicit(&racy_count, memory_order_acquire);
}

static uint16_t origin_of(const struct rt_heap_block *block)
{
    return atomic_load_explicit(block->origin, memory_order_relaxed);
}

static void note_origin(const struct rt_escape *own, uint16_t origin)
{
    if (rt_likely(!own->is_racy) || rt_escape_is_racy(origin) || !RULE(RACY))
        return;
    atomic_store_explicit(&racy[origin], true, memory_order_relaxed);
    atomic_fetch_add_explicit(&racy_count, 1, memory_order_release);
}

static bool is_on_stack(const struct rt_thread *self, uintptr_t address)
{
    return address - self->stack_low < self->stack_high - self->stack_low;
}

/* What tags above the address and the sign leave. */
static uintptr_t pointer_of(uintptr_t word)
{
    return RULE(TAG) ? word & ((1ull << 47) - 1) : word;
}

void rt_escape_end(struct rt_escape *own)
{
    for (int i = 0; i < RT_ESCAPE_DEPTH; i++)
        if (own->work[i].items)
            rt_unmap(own->work[i].items, own->work[i].room * sizeof(uintptr_t));
}

/* --- asking --- */

bool rt_escape_ask(struct rt_thread *self, struct rt_escape *own, uintptr_t address,
                   uint16_t *origin)
{
    struct rt_heap_block block;
    *origin = RT_ESCAPE_STACK;
    if (is_on_stack(self, address))
        return own->has_stack;
    if (!rt_heap_find(address, &block) || rt_heap_state_of(&block) == RT_HEAP_ESCAPED)
        return true;
    *origin = origin_of(&block);
    if (rt_heap_is_of(&block, self->slot))
        return false;
    if (rt_heap_turn(&block, RT_HEAP_PRIVATE, RT_HEAP_ESCAPED))
        rt_lose(RH_LOSS_ESCAPE_HIDDEN);
    return true;
}

/* --- the closure --- */

static struct rt_escape_work *work_of(const struct rt_thread *self, struct rt_escape *own)
{
    uint32_t depth = self->in_hook > 1 ? 1 : 0;
    return &own->work[depth];
}

static bool grow(struct rt_escape_work *work)
{
    enum { FIRST = 4096 };
    size_t room = work->room ? work->room * 2 : FIRST;
    uintptr_t *items = rt_map(room * sizeof *items);
    if (!items)
        return false;
    for (size_t i = 0; i < work->count; i++)
        items[i] = work->items[i];
    if (work->items)
        rt_unmap(work->items, work->room * sizeof *items);
    work->items = items;
    work->room = room;
    return true;
}

static void push(struct rt_escape_work *work, uintptr_t start)
{
    if (work->count == work->room && !grow(work)) {
        rt_lose(RH_LOSS_ESCAPE_SCAN);
        return;
    }
    work->items[work->count++] = start;
}

static void reach_block(struct rt_thread *self, const struct rt_escape *own,
                        struct rt_escape_work *work, uintptr_t address)
{
    struct rt_heap_block block;
    if (!rt_heap_find(address, &block))
        return;
    note_origin(own, origin_of(&block));
    if (rt_heap_is_of(&block, self->slot) && rt_heap_turn(&block, RT_HEAP_PRIVATE, RT_HEAP_BUSY))
        push(work, block.start);
}

/* One behind the end counts as a pointer into the block, too. */
static void reach_heap(struct rt_thread *self, const struct rt_escape *own,
                       struct rt_escape_work *work, uintptr_t address)
{
    reach_block(self, own, work, address);
    if (RULE(END))
        reach_block(self, own, work, address - 1);
}

static uintptr_t word_at(uintptr_t address)
{
    uintptr_t word;
    __builtin_memcpy(&word, (const void *)address, sizeof word);
    return word;
}

static bool may_be_heap(uintptr_t address)
{
    return rt_heap_may_hold(address) || rt_heap_may_hold(address - 1);
}

static void scan(struct rt_thread *self, struct rt_escape *own, struct rt_escape_work *work,
                 uintptr_t from, uintptr_t end);

/* The first time all that is alive on the stack, later what lies behind the address. */
static void reach_stack(struct rt_thread *self, struct rt_escape *own, struct rt_escape_work *work,
                        uintptr_t address)
{
    enum { RED_ZONE = 128, AGAIN = 4096 };
    uintptr_t from = own->sp - RED_ZONE, end = self->stack_high;
    if (own->has_stack && !RULE(AGAIN))
        return;
    if (own->has_stack) {
        from = address > from ? address : from;
        end = end - from > AGAIN ? from + AGAIN : end;
    }
    own->has_stack = true;
    note_origin(own, RT_ESCAPE_STACK);
    if (is_on_stack(self, own->sp) && RULE(STACK))
        scan(self, own, work, from, end);
}

static void reach(struct rt_thread *self, struct rt_escape *own, struct rt_escape_work *work,
                  uintptr_t word)
{
    uintptr_t address = pointer_of(word);
    if (rt_unlikely(may_be_heap(address)))
        reach_heap(self, own, work, address);
    if (rt_unlikely(is_on_stack(self, address) && !own->has_stack))
        reach_stack(self, own, work, address);
}

static void scan(struct rt_thread *self, struct rt_escape *own, struct rt_escape_work *work,
                 uintptr_t from, uintptr_t end)
{
    bool packed = atomic_load_explicit(&is_packed, memory_order_relaxed);
    uintptr_t step = packed ? 1 : sizeof(uintptr_t);
    uintptr_t at = packed ? from : (from + sizeof(uintptr_t) - 1) & -sizeof(uintptr_t);
    for (; at + sizeof(uintptr_t) <= end; at += step)
        reach(self, own, work, word_at(at));
}

/* All that was reached is scanned, then has escaped. */
static void finish(struct rt_thread *self, struct rt_escape *own, struct rt_escape_work *work)
{
    while (work->count) {
        struct rt_heap_block block;
        uintptr_t start = work->items[--work->count];
        if (!rt_heap_find(start, &block))
            continue;
        if (RULE(CLOSURE))
            scan(self, own, work, block.start, block.start + rt_heap_size(&block));
        rt_heap_turn(&block, RT_HEAP_BUSY, RT_HEAP_ESCAPED);
    }
}

/* --- what instrumented code tells --- */

static bool is_reached(struct rt_thread *self, struct rt_escape *own, uintptr_t address)
{
    uint16_t origin;
    return !address || rt_escape_ask(self, own, address, &origin);
}

static bool is_news_of(struct rt_thread *self, const struct rt_escape *own,
                       const struct rt_heap_block *block)
{
    return (rt_heap_state_of(block) != RT_HEAP_ESCAPED && rt_heap_is_of(block, self->slot)) ||
           (own->is_racy && !rt_escape_is_racy(origin_of(block)));
}

/* Is there anything to do if this address in the heap becomes reachable? Most pointers that are
 * stored lead to what has escaped long ago. */
static bool is_news(struct rt_thread *self, const struct rt_escape *own, uintptr_t target)
{
    struct rt_heap_block block;
    if (rt_likely(!may_be_heap(target)))
        return false;
    bool found = rt_heap_find(target, &block);
    if (found && is_news_of(self, own, &block))
        return true;
    if (found && target != block.start)
        return false;
    return rt_heap_find(target - 1, &block) && is_news_of(self, own, &block);
}

void rt_escape_store(struct rt_thread *self, struct rt_escape *own, uintptr_t address,
                     uintptr_t value)
{
    if (rt_unlikely(address % sizeof(uintptr_t) && RULE(PACKED)))
        atomic_store_explicit(&is_packed, true, memory_order_relaxed);
    uintptr_t target = pointer_of(value);
    if (rt_likely(!is_on_stack(self, target) && !is_news(self, own, target)))
        return;
    if (!is_reached(self, own, address) || !RULE(STORE))
        return;
    struct rt_escape_work *work = work_of(self, own);
    if (is_on_stack(self, target))
        reach_stack(self, own, work, target);
    else
        reach_heap(self, own, work, target);
    finish(self, own, work);
}

/* A pointer that does not come to lie where words are looked for. */
static void note_packed(uintptr_t address, uintptr_t from, uint64_t size)
{
    enum { LOOKED_AT = 4096 };
    if (rt_likely(address % sizeof(uintptr_t) == from % sizeof(uintptr_t)))
        return;
    uintptr_t end = from + (size < LOOKED_AT ? size : LOOKED_AT);
    for (uintptr_t at = from; at + sizeof(uintptr_t) <= end; at += sizeof(uintptr_t))
        if (may_be_heap(pointer_of(word_at(at))))
            atomic_store_explicit(&is_packed, true, memory_order_relaxed);
}

void rt_escape_copy(struct rt_thread *self, struct rt_escape *own, uintptr_t address,
                    uintptr_t from, uint64_t size)
{
    if (size < sizeof(uintptr_t))
        return;
    if (RULE(PACKED_COPY))
        note_packed(address, from, size);
    if (!is_reached(self, own, address) || !RULE(COPY))
        return;
    struct rt_escape_work *work = work_of(self, own);
    scan(self, own, work, from, from + size);
    finish(self, own, work);
}

void rt_escape_word(struct rt_thread *self, struct rt_escape *own, uintptr_t address)
{
    if (!is_reached(self, own, address) || !RULE(WORD))
        return;
    struct rt_escape_work *work = work_of(self, own);
    uintptr_t start = address & -sizeof(uintptr_t);
    scan(self, own, work, start, start + sizeof(uintptr_t));
    finish(self, own, work);
}

void rt_escape_alloc(struct rt_thread *self, struct rt_escape *own, uintptr_t start, uint64_t size,
                     uint16_t origin, bool is_realloc)
{
    struct rt_heap_block block;
    if (!start)
        return;
    rt_heap_add(start, size, self->slot, origin);
    if (is_realloc && RULE(REALLOC) && own->gone == start && rt_heap_find(start, &block))
        rt_heap_turn(&block, RT_HEAP_PRIVATE, RT_HEAP_ESCAPED);
    own->gone = 0;
}

void rt_escape_gone(struct rt_escape *own, uintptr_t start, uint64_t size)
{
    struct rt_heap_block block;
    bool has_escaped = rt_heap_find(start, &block) && rt_heap_state_of(&block) == RT_HEAP_ESCAPED;
    own->gone = has_escaped ? start : 0;
    rt_heap_remove(start, size);
}
