/* SPDX-License-Identifier: Apache-2.0 */
/* Meetings: see meetings.h. */
#include "meetings.h"

static uint32_t slot_of(uintptr_t address)
{
    return (uint32_t)(address >> 3) % RT_MEETINGS_SLOTS;
}

static bool is_wide(const struct rt_access *a)
{
    return a->size > 8;
}

static bool meets(struct rt_meetings_slot *slot, uint32_t thread, const struct rt_access *a)
{
    uint64_t word = atomic_load_explicit(&slot->size_and_thread, memory_order_relaxed);
    uintptr_t address = atomic_load_explicit(&slot->address, memory_order_relaxed);
    return (uint32_t)word && (uint32_t)word != thread &&
           rt_overlaps(address, word >> 32, a->address, a->size);
}

/* A word that is not aligned reaches into the next slot, and one there into this. */
static bool meets_any(struct rt_meetings_side *side, uint32_t thread, const struct rt_access *a)
{
    for (uint32_t i = 0; i < RT_MEETINGS_WIDE; i++)
        if (meets(&side->wide[i], thread, a))
            return true;
    if (!is_wide(a)) {
        uint32_t at = slot_of(a->address);
        return meets(&side->slots[at], thread, a) ||
               meets(&side->slots[(at + 1) % RT_MEETINGS_SLOTS], thread, a) ||
               meets(&side->slots[(at + RT_MEETINGS_SLOTS - 1) % RT_MEETINGS_SLOTS], thread, a);
    }
    for (uint32_t i = 0; i < RT_MEETINGS_SLOTS; i++)
        if (meets(&side->slots[i], thread, a))
            return true;
    return false;
}

static void remember(struct rt_meetings_side *side, uint32_t thread, const struct rt_access *a)
{
    struct rt_meetings_slot *slot = &side->slots[slot_of(a->address)];
    if (is_wide(a))
        slot = &side->wide[atomic_fetch_add_explicit(&side->next_wide, 1, memory_order_relaxed) %
                           RT_MEETINGS_WIDE];
    uint64_t size = a->size < UINT32_MAX ? a->size : UINT32_MAX;
    uint64_t word = size << 32 | thread;
    if (atomic_load_explicit(&slot->address, memory_order_relaxed) != a->address)
        atomic_store_explicit(&slot->address, a->address, memory_order_relaxed);
    if (atomic_load_explicit(&slot->size_and_thread, memory_order_relaxed) != word)
        atomic_store_explicit(&slot->size_and_thread, word, memory_order_relaxed);
}

uint32_t rt_meetings_note(struct rt_meetings *c, enum rt_side side, enum rt_side other,
                          const struct rt_thread *self, const struct rt_access *a)
{
    uint32_t seen = side == RT_SIDE_FIRST ? RH_SEEN_FIRST : RH_SEEN_SECOND;
    if (side == other)
        seen |= RH_SEEN_FIRST | RH_SEEN_SECOND;
    if (!atomic_load_explicit(&c->sides[side].thread, memory_order_relaxed))
        atomic_store_explicit(&c->sides[side].thread, self->id, memory_order_relaxed);
    uint32_t there = atomic_load_explicit(&c->sides[other].thread, memory_order_relaxed);
    if (there && there != self->id)
        seen |= RH_SEEN_THREADS;
    if (meets_any(&c->sides[other], self->id, a))
        seen |= RH_SEEN_MEET;
    remember(&c->sides[side], self->id, a);
    return seen;
}
