/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted arrays of 64-bit words as sets of numbers: see idset.h. */
#include "analysis/idset.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

static uint64_t bits_of(const struct rh_idset_word *w)
{
    return (uint64_t)w->high << 32 | w->low;
}

static struct rh_idset_word make_word(uint32_t index, uint64_t bits)
{
    return (struct rh_idset_word){index, (uint32_t)bits, (uint32_t)(bits >> 32)};
}

void rh_idset_release(struct rh_idset *s)
{
    free(s->words);
    memset(s, 0, sizeof *s);
}

void rh_idset_clear(struct rh_idset *s)
{
    s->len = 0;
}

static void reserve(struct rh_idset *s, uint32_t words)
{
    if (words <= s->cap)
        return;
    uint32_t cap = s->cap ? s->cap : 1;
    while (cap < words)
        cap += cap / 2 + 1;
    s->words = rh_realloc(s->words, cap * sizeof *s->words);
    s->cap = cap;
}

/* Position of the first word whose index is not below `index`. */
static uint32_t find(const struct rh_idset *s, uint32_t index)
{
    uint32_t low = 0, high = s->len;
    if (high && s->words[high - 1].index < index)
        return high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->words[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool rh_idset_add(struct rh_idset *s, uint32_t id)
{
    uint32_t index = id / 64;
    uint64_t bit = (uint64_t)1 << (id % 64);
    uint32_t at = find(s, index);
    if (at < s->len && s->words[at].index == index) {
        uint64_t old = bits_of(&s->words[at]);
        s->words[at] = make_word(index, old | bit);
        return !(old & bit);
    }
    reserve(s, s->len + 1);
    memmove(&s->words[at + 1], &s->words[at], (s->len - at) * sizeof *s->words);
    s->words[at] = make_word(index, bit);
    s->len++;
    return true;
}

bool rh_idset_has(const struct rh_idset *s, uint32_t id)
{
    uint32_t at = find(s, id / 64);
    return at < s->len && s->words[at].index == id / 64 && bits_of(&s->words[at]) >> (id % 64) & 1;
}

bool rh_idset_is_empty(const struct rh_idset *s)
{
    return s->len == 0;
}

uint32_t rh_idset_count(const struct rh_idset *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->len; i++)
        n += (uint32_t)__builtin_popcountll(bits_of(&s->words[i]));
    return n;
}

bool rh_idset_equal(const struct rh_idset *a, const struct rh_idset *b)
{
    return a->len == b->len &&
           (a->len == 0 || memcmp(a->words, b->words, a->len * sizeof *a->words) == 0);
}

bool rh_idset_meets(const struct rh_idset *a, const struct rh_idset *b)
{
    for (uint32_t i = 0, j = 0; i < a->len && j < b->len;) {
        if (a->words[i].index < b->words[j].index)
            i++;
        else if (a->words[i].index > b->words[j].index)
            j++;
        else if (bits_of(&a->words[i++]) & bits_of(&b->words[j++]))
            return true;
    }
    return false;
}

void rh_idset_both(struct rh_idset *out, const struct rh_idset *a, const struct rh_idset *b)
{
    rh_idset_clear(out);
    for (uint32_t i = 0, j = 0; i < a->len && j < b->len;) {
        if (a->words[i].index < b->words[j].index) {
            i++;
        } else if (a->words[i].index > b->words[j].index) {
            j++;
        } else {
            uint64_t bits = bits_of(&a->words[i]) & bits_of(&b->words[j++]);
            if (bits) {
                reserve(out, out->len + 1);
                out->words[out->len++] = make_word(a->words[i].index, bits);
            }
            i++;
        }
    }
}

/* How many words of `from` have no partner in `to`; *grows if any bit is new. */
static uint32_t count_missing(const struct rh_idset *to, const struct rh_idset *from, bool *grows)
{
    uint32_t missing = 0, i = 0;
    *grows = false;
    for (uint32_t j = 0; j < from->len; j++) {
        while (i < to->len && to->words[i].index < from->words[j].index)
            i++;
        if (i == to->len || to->words[i].index != from->words[j].index)
            missing++;
        else if (bits_of(&from->words[j]) & ~bits_of(&to->words[i]))
            *grows = true;
    }
    *grows |= missing != 0;
    return missing;
}

bool rh_idset_unite(struct rh_idset *to, const struct rh_idset *from)
{
    bool grows;
    uint32_t missing = count_missing(to, from, &grows);
    if (!grows)
        return false;
    reserve(to, to->len + missing);
    /* Merged from the back, so that every word moves at most once. */
    uint32_t i = to->len, j = from->len, out = to->len + missing;
    to->len = out;
    while (j) {
        if (i && to->words[i - 1].index > from->words[j - 1].index) {
            to->words[--out] = to->words[--i];
        } else if (i && to->words[i - 1].index == from->words[j - 1].index) {
            i--, j--;
            uint64_t bits = bits_of(&to->words[i]) | bits_of(&from->words[j]);
            to->words[--out] = make_word(from->words[j].index, bits);
        } else {
            to->words[--out] = from->words[--j];
        }
    }
    return true;
}

bool rh_idset_unite_new(struct rh_idset *to, const struct rh_idset *from,
                        const struct rh_idset *known)
{
    struct rh_idset news = RH_IDSET_INIT;
    uint32_t i = 0;
    for (uint32_t j = 0; j < from->len; j++) {
        uint64_t bits = bits_of(&from->words[j]);
        while (i < known->len && known->words[i].index < from->words[j].index)
            i++;
        if (i < known->len && known->words[i].index == from->words[j].index)
            bits &= ~bits_of(&known->words[i]);
        if (!bits)
            continue;
        reserve(&news, news.len + 1);
        news.words[news.len++] = make_word(from->words[j].index, bits);
    }
    bool grew = rh_idset_unite(to, &news);
    rh_idset_release(&news);
    return grew;
}

void rh_idset_copy(struct rh_idset *to, const struct rh_idset *from)
{
    reserve(to, from->len);
    if (from->len)
        memcpy(to->words, from->words, from->len * sizeof *from->words);
    to->len = from->len;
}

void rh_idset_swap(struct rh_idset *a, struct rh_idset *b)
{
    struct rh_idset c = *a;
    *a = *b;
    *b = c;
}

uint64_t rh_idset_hash(const struct rh_idset *s)
{
    struct rh_hash h;
    rh_hash_init(&h);
    for (uint32_t i = 0; i < s->len; i++) {
        rh_hash_add_u64(&h, s->words[i].index);
        rh_hash_add_u64(&h, bits_of(&s->words[i]));
    }
    return rh_hash_finish(&h);
}

/* The position is the word's place and the bit to go on with. */
bool rh_idset_next(const struct rh_idset *s, uint64_t *at, uint32_t *id)
{
    for (uint64_t word = *at / 64; word < s->len; word = *at / 64) {
        uint64_t rest = bits_of(&s->words[word]) >> (*at % 64) << (*at % 64);
        if (rest) {
            uint32_t bit = (uint32_t)__builtin_ctzll(rest);
            *id = s->words[word].index * 64 + bit;
            *at = word * 64 + bit + 1;
            return true;
        }
        *at = (word + 1) * 64;
    }
    return false;
}
