/* SPDX-License-Identifier: Apache-2.0 */
/* Dense bit sets over 64-bit words. */
#include "base/bitset.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define WORD_BITS 64

void rh_bitset_init(struct rh_bitset *set)
{
    *set = (struct rh_bitset)RH_BITSET_INIT;
}

void rh_bitset_release(struct rh_bitset *set)
{
    free(set->words);
    rh_bitset_init(set);
}

/* Grows by half at least, so that setting bits in rising order stays linear. */
static void ensure_words(struct rh_bitset *set, size_t need)
{
    if (need <= set->len)
        return;
    size_t len = set->len + set->len / 2;
    if (len < need)
        len = need;
    set->words = rh_realloc_array(set->words, len, sizeof *set->words);
    memset(set->words + set->len, 0, (len - set->len) * sizeof *set->words);
    set->len = len;
}

static uint64_t mask_of(size_t bit)
{
    return UINT64_C(1) << (bit % WORD_BITS);
}

bool rh_bitset_set(struct rh_bitset *set, size_t bit)
{
    ensure_words(set, bit / WORD_BITS + 1);
    uint64_t *word = &set->words[bit / WORD_BITS];
    uint64_t before = *word;
    *word |= mask_of(bit);
    return *word != before;
}

bool rh_bitset_test(const struct rh_bitset *set, size_t bit)
{
    return bit / WORD_BITS < set->len && (set->words[bit / WORD_BITS] & mask_of(bit)) != 0;
}

size_t rh_bitset_count(const struct rh_bitset *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->len; i++)
        count += (size_t)__builtin_popcountll(set->words[i]);
    return count;
}

bool rh_bitset_next(const struct rh_bitset *set, size_t *at, size_t *bit)
{
    for (size_t i = *at / WORD_BITS; i < set->len; i++) {
        uint64_t word = set->words[i];
        if (i == *at / WORD_BITS)
            word &= ~UINT64_C(0) << (*at % WORD_BITS);
        if (word == 0)
            continue;
        *bit = i * WORD_BITS + (size_t)__builtin_ctzll(word);
        *at = *bit + 1;
        return true;
    }
    return false;
}
