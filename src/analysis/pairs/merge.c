/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one class of those that have the same partners: what told them apart (which cells, which
 * objects) has done its work when the pairs were compared. In programs where points-to knows
 * little, thousands of classes and millions of groups become few.
 *
 * How it works: the partners of each class are put in a row and hashed; classes with equal rows,
 * and alike in all that is reported of a class, are joined. If one of them is its own partner then
 * it is the other's too, so every pair of members still has the fate that it had.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/pairs/internal.h"
#include "base/hash.h"
#include "base/mem.h"

/* For each class its partners in rising order, one row after the other. */
struct rows {
    uint32_t *at; /* where the row of a class begins; one more for the end */
    uint32_t *partners;
};

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void make_rows(const struct rh_pairs *c, struct rows *out)
{
    size_t classes = c->classes.len;
    out->at = rh_calloc(classes + 2, sizeof *out->at);
    rh_vec_each (const struct rh_group, g, &c->groups) {
        out->at[g->first + 2]++;
        if (g->second != g->first)
            out->at[g->second + 2]++;
    }
    for (size_t i = 2; i < classes + 2; i++)
        out->at[i] += out->at[i - 1];
    out->partners = rh_alloc_array(out->at[classes + 1] + (size_t)1, sizeof *out->partners);
    rh_vec_each (const struct rh_group, g, &c->groups) {
        out->partners[out->at[g->first + 1]++] = g->second;
        if (g->second != g->first)
            out->partners[out->at[g->second + 1]++] = g->first;
    }
    for (size_t i = 0; i < classes; i++)
        qsort(out->partners + out->at[i], out->at[i + 1] - out->at[i], sizeof *out->partners,
              compare_numbers);
}

static size_t row_bytes(const struct rows *r, uint32_t klass)
{
    return (r->at[klass + 1] - r->at[klass]) * sizeof *r->partners;
}

/* Is all the same that people are told of a class, and that its rank goes by? */
static bool look_alike(const struct rh_pairs_work *w, uint32_t a, uint32_t b)
{
    const struct class_info *x = &w->infos.data[a], *y = &w->infos.data[b];
    if (x->access->kind != y->access->kind || x->access->size != y->access->size ||
        x->access->in_library != y->access->in_library || x->tag != y->tag ||
        x->fact_count != y->fact_count)
        return false;
    for (uint32_t i = 0; i < x->fact_count; i++)
        if (x->facts[i].ways != y->facts[i].ways)
            return false;
    return true;
}

static uint64_t hash_row(const struct rh_pairs_work *w, const struct rows *r, uint32_t klass)
{
    const struct class_info *info = &w->infos.data[klass];
    struct rh_hash h;
    rh_hash_init(&h);
    rh_hash_add_u64(&h, rh_hash_bytes(r->partners + r->at[klass], row_bytes(r, klass)));
    rh_hash_add_u64(&h, info->access->kind);
    rh_hash_add_u64(&h, info->access->size);
    rh_hash_add_u64(&h, info->tag);
    return rh_hash_finish(&h);
}

/* The new number of each class; how many there are. The first of its kind stands for all. */
static uint32_t number_classes(const struct rh_pairs_work *w, const struct rows *r,
                               uint32_t *number, uint32_t *first)
{
    struct rh_map seen = RH_MAP_INIT; /* hash -> new number */
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->out->classes.len; i++) {
        uint64_t key = hash_row(w, r, i), known;
        bool same = rh_map_get(&seen, key, &known) && w->out->classes.data[i].is_candidate &&
                    row_bytes(r, i) == row_bytes(r, first[known]) &&
                    memcmp(r->partners + r->at[i], r->partners + r->at[first[known]],
                           row_bytes(r, i)) == 0 &&
                    look_alike(w, i, first[known]);
        number[i] = same ? (uint32_t)known : count;
        if (same)
            continue;
        first[count] = i;
        rh_map_put(&seen, key, count++);
    }
    rh_map_release(&seen);
    return count;
}

static void join_classes(struct rh_pairs_work *w, const uint32_t *number, uint32_t count)
{
    struct rh_pairs *out = w->out;
    uint32_t done = 0;
    for (uint32_t i = 0; i < out->classes.len; i++) {
        struct rh_access_class *c = &out->classes.data[i];
        if (number[i] == done) { /* the first of its kind moves down */
            done++;
            out->classes.data[number[i]] = *c;
            w->infos.data[number[i]] = w->infos.data[i];
            continue;
        }
        rh_vec_each (uint32_t, member, &c->members)
            rh_vec_push(&out->classes.data[number[i]].members, *member);
        rh_vec_free(&c->members);
    }
    out->classes.len = w->infos.len = count;
    rh_vec_each (struct rh_access_class, c, &out->classes)
        if (c->closest != RH_PAIR_COUNT)
            c->closest_partner = number[c->closest_partner];
    for (size_t i = 0; i < w->accesses->all.len; i++)
        if (out->class_of[i] != NO_CLASS)
            out->class_of[i] = number[out->class_of[i]];
}

/* If any members of two joined classes are partners, then so are the first members of both: their
 * group is the one that stays. */
static void join_groups(struct rh_pairs *c, const uint32_t *number, const uint32_t *first)
{
    size_t kept = 0;
    rh_vec_each (const struct rh_group, g, &c->groups) {
        uint32_t a = number[g->first], b = number[g->second];
        struct rh_group joined = *g;
        if (first[a] != g->first || first[b] != g->second)
            continue;
        joined.first = a < b ? a : b;
        joined.second = a < b ? b : a;
        c->groups.data[kept++] = joined;
    }
    c->groups.len = kept;
}

void rh_pairs_merge(struct rh_pairs_work *w)
{
    size_t classes = w->out->classes.len + 1;
    uint32_t *number = rh_alloc_array(classes, sizeof *number);
    uint32_t *first = rh_alloc_array(classes, sizeof *first);
    struct rows rows;
    make_rows(w->out, &rows);
    uint32_t count = number_classes(w, &rows, number, first);
    join_classes(w, number, count);
    join_groups(w->out, number, first);
    free(rows.at);
    free(rows.partners);
    free(number);
    free(first);
}
