/* SPDX-License-Identifier: Apache-2.0 */
/* Kin take turns: see kin.h. */
#include "scout/kin.h"

#include "arch/x86_64/ticks.h"
#include "racehive/random.h"
#include "sys.h"

enum { KIN = 1 << 16, LINKS = 1024 };

static struct {
    struct rt_kin known;
    bool is_there, is_chosen;
} * table;

static uint16_t *order; /* the turns: all that are there, at random */
static uint32_t kin_count;
static uint32_t wanted = 4; /* in a window */
static uint64_t luck;

static _Atomic uint32_t links[LINKS]; /* two kin each, by hash; 0: free */

bool rt_kin_start(void)
{
    if (!table) {
        table = rt_map(KIN * sizeof *table);
        order = rt_map(KIN * sizeof *order);
        luck = rh_random_seed(rt_arch_ticks());
    }
    return table && order;
}

void rt_kin_add(uint16_t kin)
{
    if (table[kin].is_there)
        return;
    table[kin].is_there = true;
    uint32_t at = rh_random_below(&luck, kin_count + 1);
    order[kin_count] = order[at];
    order[at] = kin;
    kin_count++;
}

/* --- what is known --- */

void rt_kin_clear(void)
{
    for (uint32_t i = 0; i < kin_count; i++)
        table[order[i]].known = (struct rt_kin){0};
}

void rt_kin_learn(uint16_t kin, const struct rt_kin *site)
{
    struct rt_kin *known = &table[kin].known;
    known->slots |= site->slots;
    known->writes |= site->writes;
    known->is_promising |= site->is_promising;
}

static bool is_shared(uint16_t kin)
{
    uint16_t slots = table[kin].known.slots;
    return slots & (slots - 1) && table[kin].known.writes;
}

static bool is_promising(uint16_t kin)
{
    return table[kin].known.is_promising;
}

/* --- links --- */

/* What finds no room is linked by the windows for all sites alone. */
void rt_kin_link(uint16_t a, uint16_t b)
{
    enum { TRIES = 8 };
    if (!a || !b || a == b)
        return;
    uint32_t link = a < b ? (uint32_t)a << 16 | b : (uint32_t)b << 16 | a;
    uint32_t at = link * 0x9e3779b9u / (UINT32_MAX / LINKS + 1);
    for (uint32_t i = 0; i < TRIES; i++, at = (at + 1) % LINKS) {
        uint32_t there = atomic_load_explicit(&links[at], memory_order_relaxed);
        if (there == link || (!there && atomic_compare_exchange_strong(&links[at], &there, link)))
            return;
    }
}

static void choose_linked(uint16_t kin)
{
    enum { MOST = 32 };
    for (uint32_t i = 0, found = 0; i < LINKS && found < MOST; i++) {
        uint32_t link = atomic_load_explicit(&links[i], memory_order_relaxed);
        uint16_t a = (uint16_t)(link >> 16), b = (uint16_t)link;
        if (!link || (a != kin && b != kin))
            continue;
        table[a].is_chosen = table[b].is_chosen = true;
        found++;
    }
}

/* --- turns --- */

/* The next `most` that qualify, from where the last turn ended. */
static uint32_t take_turns(uint32_t *turn, bool (*qualifies)(uint16_t), uint32_t most)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < kin_count && taken < most; i++) {
        uint16_t kin = order[(*turn)++ % kin_count];
        if (table[kin].is_chosen || !qualifies(kin))
            continue;
        table[kin].is_chosen = true;
        choose_linked(kin);
        taken++;
    }
    return taken;
}

bool rt_kin_choose(uint16_t for_one)
{
    static uint32_t turn_of_promising, turn_of_all;
    for (uint32_t i = 0; i < kin_count; i++)
        table[order[i]].is_chosen = false;
    if (for_one) {
        table[for_one].is_chosen = true;
        choose_linked(for_one);
    }
    uint32_t taken = take_turns(&turn_of_promising, is_promising, (wanted + 1) / 2);
    taken += take_turns(&turn_of_all, is_shared, wanted > taken ? wanted - taken : 1);
    return for_one || taken;
}

bool rt_kin_is_chosen(uint16_t kin)
{
    return table[kin].is_chosen;
}

/* Long enough that a thread which waits for a processor has had it. */
void rt_kin_lasted(uint64_t ns)
{
    enum { SHORT_NS = 20000000, LONG_NS = 60000000, MOST = 1024 };
    if (ns < SHORT_NS && wanted > 1)
        wanted /= 2;
    else if (ns > LONG_NS && wanted < MOST)
        wanted *= 2;
}
