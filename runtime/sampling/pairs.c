/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of functions that ran at the same time: see pairs.h. */
#include "sampling/pairs.h"

#include "loss.h"
#include "racehive/sampled.h"
#include "sys.h"

enum {
    MAP_SIZE = sizeof((struct rt_pair_map *)0)->at / sizeof(struct rt_pair),
    INDEX_BITS = 15,
    MOST_STEPS = 64,
};
_Static_assert((1 << INDEX_BITS) >= 2 * RH_MAX_PAIRS, "half of it stays free");

static struct rh_pairs *page;
static _Atomic uint32_t *rows; /* by the hash of two fingerprints: row of the page, plus 1 */
static uint64_t *fingerprints; /* by the number of a function */

static uint32_t mix(uint64_t a, uint64_t b, uint32_t bits)
{
    return (uint32_t)((a * 0x9e3779b97f4a7c15ull ^ b * 0xc2b2ae3d27d4eb4full) *
                          0xd6e8feb86659fd93ull >>
                      (64 - bits));
}

/* --- the control page --- */

static bool is_row(uint32_t row, uint64_t first, uint64_t second)
{
    return page->at[row].first == first && page->at[row].second == second;
}

/* A row that loses the race for its place stays unseen. */
static uint32_t make_row(uint64_t first, uint64_t second)
{
    uint32_t row = atomic_fetch_add(&page->count, 1);
    if (row >= RH_MAX_PAIRS) {
        atomic_store(&page->count, RH_MAX_PAIRS);
        return RT_PAIR_NO_ROW;
    }
    page->at[row].first = first;
    page->at[row].second = second;
    return row;
}

/* Finds the row of a pair, or enters `row`, which is made if it is RT_PAIR_NO_ROW. */
static uint32_t enter_row(uint64_t first, uint64_t second, uint32_t row)
{
    uint32_t at = mix(first, second, INDEX_BITS);
    for (int i = 0; i < MOST_STEPS; i++, at = (at + 1) % (1 << INDEX_BITS)) {
        uint32_t found = atomic_load_explicit(&rows[at], memory_order_acquire);
        if (!found) {
            if (row == RT_PAIR_NO_ROW)
                row = make_row(first, second);
            if (row == RT_PAIR_NO_ROW || atomic_compare_exchange_strong(&rows[at], &found, row + 1))
                return row;
        }
        if (is_row(found - 1, first, second))
            return found - 1;
    }
    return RT_PAIR_NO_ROW;
}

bool rt_pairs_start(struct rh_pairs *pairs)
{
    page = pairs;
    rows = rt_map(sizeof *rows << INDEX_BITS);
    fingerprints = rt_map(sizeof *fingerprints * RH_SAMPLED_FUNCTIONS);
    if (!rows || !fingerprints)
        return false;
    uint32_t known = atomic_load(&page->count);
    for (uint32_t i = 0; i < known && i < RH_MAX_PAIRS; i++)
        enter_row(page->at[i].first, page->at[i].second, i);
    return true;
}

void rt_pairs_name(uint32_t function, uint64_t fingerprint)
{
    if (fingerprints && function < RH_SAMPLED_FUNCTIONS)
        fingerprints[function] = fingerprint;
}

static uint32_t find_row(uint32_t a, uint32_t b)
{
    uint64_t first = a < RH_SAMPLED_FUNCTIONS ? fingerprints[a] : 0;
    uint64_t second = b < RH_SAMPLED_FUNCTIONS ? fingerprints[b] : 0;
    uint32_t row = RT_PAIR_NO_ROW;
    if (first && second)
        row = first < second ? enter_row(first, second, row) : enter_row(second, first, row);
    if (row == RT_PAIR_NO_ROW)
        rt_lose(RH_LOSS_PAIR);
    return row;
}

/* --- maps of threads --- */

/* The page shows the pair from the first call on. */
static void begin(struct rt_pair *pair, uint64_t functions, uint32_t a, uint32_t b)
{
    pair->row = find_row(a, b);
    pair->count = pair->row == RT_PAIR_NO_ROW ? 0 : page->at[pair->row].known;
    pair->untold = 0;
    if (pair->row != RT_PAIR_NO_ROW)
        atomic_fetch_add(&page->at[pair->row].seen, 1);
    pair->functions = functions;
}

struct rt_pair *rt_pairs_find(struct rt_pair_map *map, uint32_t a, uint32_t b)
{
    uint64_t functions = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    uint32_t at = mix(functions, 0, 32) % MAP_SIZE;
    for (int i = 0; i < MOST_STEPS; i++, at = (at + 1) % MAP_SIZE) {
        struct rt_pair *pair = &map->at[at];
        if (pair->functions == functions)
            return pair;
        if (!pair->functions) {
            begin(pair, functions, a, b);
            return pair;
        }
    }
    rt_lose(RH_LOSS_PAIR);
    return NULL;
}

void rt_pairs_add(struct rt_pair *pair, uint32_t calls)
{
    pair->count = pair->count > UINT32_MAX - calls ? UINT32_MAX : pair->count + calls;
    pair->untold = pair->untold > UINT32_MAX - calls ? UINT32_MAX : pair->untold + calls;
}

void rt_pairs_tell(struct rt_pair_map *map)
{
    for (uint32_t i = 0; i < MAP_SIZE; i++) {
        struct rt_pair *pair = &map->at[i];
        uint32_t untold = pair->untold;
        pair->untold = 0;
        if (pair->functions && pair->row != RT_PAIR_NO_ROW && untold)
            atomic_fetch_add(&page->at[pair->row].seen, untold);
    }
}

void rt_pairs_forget_untold(struct rt_pair_map *map)
{
    for (uint32_t i = 0; i < MAP_SIZE; i++)
        map->at[i].untold = 0;
}
