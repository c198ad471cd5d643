/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the candidates of a sidecar lazily.
 *
 * Of a vague group the candidates whose sites name the same member have a better score, and so a
 * place of their own in the order: such a group is walked twice, for these and for the others. Each
 * walk of a group is a *portion*.
 *
 * The sites of each class stand together in `members`, in the order of the source. A group is
 * walked partner by partner, and each as a matrix, a row for each site of the group's first class
 * and a column for each of the partner; of a class with itself only the half with column >= row.
 * The filter marks members: in the row of a member that is not wanted only the columns of wanted
 * members are looked at, so that a walk costs what it finds. Where the same member must be named,
 * only the columns of that name are.
 */
#include "base/hash.h"
#include "candidate/member.h"
#include "candidate/score.h"
#include "racehive/access.h"
#include "store/candidates_internal.h"

#include <string.h>

static struct selection select_all(const struct class *class)
{
    return (struct selection){NULL, class->count};
}

static struct selection select_wanted(const struct rh_candidates *c, const struct class *class)
{
    const uint32_t *places = class->wanted_count ? &c->wanted.data[class->first_wanted] : NULL;
    return (struct selection){places, class->wanted_count};
}

static uint32_t place_at(const struct selection *selection, uint32_t index)
{
    return selection->places ? selection->places[index] : index;
}

/* The index of the first place not below `place`. */
static uint32_t find_place(const struct selection *selection, uint32_t place)
{
    uint32_t low = 0, high = selection->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (place_at(selection, middle) < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct portion *present(const struct rh_candidates *c)
{
    return &c->portions.data[c->portion];
}

static const struct rh_sidecar_group *present_group(const struct rh_candidates *c)
{
    return &c->groups.data[present(c)->group];
}

static const struct class *first_class(const struct rh_candidates *c)
{
    return &c->classes.data[present_group(c)->first];
}

static const struct class *second_class(const struct rh_candidates *c)
{
    return &c->classes.data[c->partner];
}

/* The first in `by_name` of those of the class with this name or a later one. */
static size_t find_name(const struct rh_candidates *c, const struct class *class, uint32_t name)
{
    size_t low = class->first, high = class->first + class->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->members.data[class->first + c->by_name.data[middle]].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct selection select_alike(const struct rh_candidates *c, const struct class *class,
                                     uint32_t name)
{
    if (!name)
        return (struct selection){0};
    size_t from = find_name(c, class, name), to = find_name(c, class, name + 1);
    const uint32_t *places = from < to ? &c->by_name.data[from] : NULL;
    return (struct selection){places, (uint32_t)(to - from)};
}

static bool conflicts_with_any(enum rh_access_kind access, const struct class *class)
{
    struct tally one = {0};
    rh_candidates_tally(&one, access);
    return rh_candidates_count_pairs(&one, &class->all) > 0;
}

static void start_row(struct rh_candidates *c, uint32_t row)
{
    const struct class *first = first_class(c), *second = second_class(c);
    c->row = row;
    c->column = 0;
    if (row >= c->rows.count)
        return;
    uint32_t place = place_at(&c->rows, row);
    const struct member *member = &c->members.data[first->first + place];
    if (!conflicts_with_any(member->site->access, second))
        c->columns = (struct selection){0};
    else if (present(c)->alike)
        c->columns = select_alike(c, second, member->name);
    else
        c->columns = member->wanted ? select_all(second) : select_wanted(c, second);
    if (first == second)
        c->column = find_place(&c->columns, place);
}

/* Goes to the next partner of the group; false if it has no more. */
static bool start_partner(struct rh_candidates *c)
{
    if (!rh_packed_next(&c->partners, &c->partner))
        return false;
    c->rows = second_class(c)->wanted_count > 0 ? select_all(first_class(c))
                                                : select_wanted(c, first_class(c));
    start_row(c, 0);
    return true;
}

static void start_portion(struct rh_candidates *c, size_t portion)
{
    c->portion = portion;
    if (portion >= c->portions.len)
        return;
    const struct rh_sidecar_group *row = present_group(c);
    c->partners = rh_packed_walk(row->partners, row->partners_len);
    start_partner(c);
}

void rh_candidates_restart(struct rh_candidates *c, const struct rh_candidates_filter *filter)
{
    rh_vec_clear(&c->wanted);
    for (size_t i = 0; i < c->classes.len; i++) {
        struct class *class = &c->classes.data[i];
        class->first_wanted = c->wanted.len;
        class->unwanted = (struct tally){0};
        for (uint32_t place = 0; place < class->count; place++) {
            struct member *member = &c->members.data[class->first + place];
            member->wanted = !filter || filter->wants(filter->context, member->site);
            if (member->wanted)
                rh_vec_push(&c->wanted, place);
            else
                rh_candidates_tally(&class->unwanted, member->site->access);
        }
        class->wanted_count = (uint32_t)(c->wanted.len - class->first_wanted);
    }
    start_portion(c, 0);
}

uint64_t rh_candidate_id(const struct rh_sidecar_site *a, const struct rh_sidecar_site *b)
{
    struct rh_hash hash;
    bool in_order = a->fingerprint <= b->fingerprint;
    rh_hash_init(&hash);
    rh_hash_add_u64(&hash, in_order ? a->fingerprint : b->fingerprint);
    rh_hash_add_u64(&hash, in_order ? b->fingerprint : a->fingerprint);
    return rh_hash_finish(&hash);
}

uint64_t rh_candidate_id_between(struct rh_candidate_side a, struct rh_candidate_side b)
{
    struct rh_hash hash;
    int order = strcmp(a.image, b.image);
    bool in_order = order ? order < 0 : a.site->fingerprint <= b.site->fingerprint;
    const struct rh_candidate_side sides[] = {in_order ? a : b, in_order ? b : a};
    rh_hash_init(&hash);
    rh_hash_add_string(&hash, "between images");
    for (int i = 0; i < 2; i++) {
        rh_hash_add_string(&hash, sides[i].image);
        rh_hash_add_u64(&hash, sides[i].site->fingerprint);
    }
    return rh_hash_finish(&hash);
}

uint64_t rh_candidate_uninstrumented(const struct rh_sidecar_site *site)
{
    struct rh_hash hash;
    rh_hash_init(&hash);
    rh_hash_add_u64(&hash, site->fingerprint);
    rh_hash_add_string(&hash, "uninstrumented");
    return rh_hash_finish(&hash);
}

bool rh_candidate_names_same_member(const struct rh_sidecar_group *group,
                                    const struct rh_sidecar_site *first,
                                    const struct rh_sidecar_site *second)
{
    return group->flags & RH_GROUP_VAGUE && rh_member_same(first->expression, second->expression);
}

void rh_candidate_explain(const struct rh_sidecar_group *group, const struct rh_sidecar_site *first,
                          const struct rh_sidecar_site *second, struct rh_strbuf *out)
{
    bool same = rh_candidate_names_same_member(group, first, second);
    rh_score_explain_candidate(group->why, same ? first->expression : NULL, out);
}

static void make_candidate(const struct rh_candidates *c, const struct member *a,
                           const struct member *b, struct rh_candidate *out)
{
    if (rh_sidecar_compare_locations(a->site, b->site) > 0) {
        const struct member *other = a;
        a = b;
        b = other;
    }
    *out = (struct rh_candidate){
        .id = rh_candidate_id(a->site, b->site),
        .score = present(c)->score,
        .first = a->site,
        .second = b->site,
        .first_class = &c->classes.data[a->class_number].row,
        .second_class = &c->classes.data[b->class_number].row,
        .group = present_group(c),
    };
}

static bool is_in_portion(const struct portion *portion, const struct member *a,
                          const struct member *b)
{
    bool alike = a->name && a->name == b->name;
    return (!portion->is_part || alike == portion->alike) && (a->wanted || b->wanted);
}

/* Goes on in the present row; false at its end. */
static bool next_in_row(struct rh_candidates *c, struct rh_candidate *candidate)
{
    const struct member *a = &c->members.data[first_class(c)->first + place_at(&c->rows, c->row)];
    while (c->column < c->columns.count) {
        uint32_t place = place_at(&c->columns, c->column++);
        const struct member *b = &c->members.data[second_class(c)->first + place];
        if (rh_kinds_conflict(a->site->access, b->site->access) &&
            is_in_portion(present(c), a, b)) {
            make_candidate(c, a, b, candidate);
            return true;
        }
    }
    return false;
}

bool rh_candidates_next(struct rh_candidates *c, struct rh_candidate *candidate)
{
    while (c->portion < c->portions.len) {
        for (; c->row < c->rows.count; start_row(c, c->row + 1))
            if (next_in_row(c, candidate))
                return true;
        if (!start_partner(c))
            start_portion(c, c->portion + 1);
    }
    return false;
}

/* --- looking up --- */

static void index_pairs(struct rh_candidates *c)
{
    if (c->is_indexed)
        return;
    c->is_indexed = true;
    rh_vec_each (struct member, member, &c->members)
        rh_map_put(&c->class_of, member->site->number, member->class_number);
    rh_vec_each (struct rh_sidecar_group, group, &c->groups) {
        uint64_t before = 0;
        rh_map_get(&c->last_group, group->first, &before);
        rh_vec_push(&c->before, (size_t)before);
        rh_map_put(&c->last_group, group->first, c->before.len);
    }
}

static const struct rh_sidecar_group *find_group(const struct rh_candidates *c, uint32_t a,
                                                 uint32_t b)
{
    uint64_t at = 0;
    rh_map_get(&c->last_group, a < b ? a : b, &at);
    for (; at > 0; at = c->before.data[at - 1]) {
        const struct rh_sidecar_group *group = &c->groups.data[at - 1];
        if (rh_packed_has(group->partners, group->partners_len, a < b ? b : a))
            return group;
    }
    return NULL;
}

bool rh_candidates_find(struct rh_candidates *c, const struct rh_sidecar_site *a,
                        const struct rh_sidecar_site *b, struct rh_candidate *candidate)
{
    static const struct rh_sidecar_class no_class = {.threads = "", .locks = ""};
    bool in_order = rh_sidecar_compare_locations(a, b) <= 0;
    const struct rh_sidecar_site *first = in_order ? a : b, *second = in_order ? b : a;
    uint64_t classes[2];
    index_pairs(c);
    bool has_first = rh_map_get(&c->class_of, first->number, &classes[0]);
    bool has_second = rh_map_get(&c->class_of, second->number, &classes[1]);
    *candidate = (struct rh_candidate){
        .id = rh_candidate_id(first, second),
        .first = first,
        .second = second,
        .first_class = has_first ? &c->classes.data[classes[0]].row : &no_class,
        .second_class = has_second ? &c->classes.data[classes[1]].row : &no_class,
    };
    if (!has_first || !has_second || !rh_kinds_conflict(first->access, second->access))
        return false;
    candidate->group = find_group(c, (uint32_t)classes[0], (uint32_t)classes[1]);
    if (!candidate->group)
        return false;
    bool same = rh_candidate_names_same_member(candidate->group, first, second);
    candidate->score = rh_score_candidate(candidate->group->score, same);
    return true;
}

/* --- counting --- */

void rh_candidates_count(const struct rh_candidates *c, struct rh_candidates_totals *totals)
{
    *totals = (struct rh_candidates_totals){.groups = c->groups.len};
    rh_vec_each (struct rh_sidecar_group, group, &c->groups) {
        struct rh_packed_walk walk = rh_packed_walk(group->partners, group->partners_len);
        for (uint32_t partner; rh_packed_next(&walk, &partner);) {
            uint64_t all = rh_candidates_count_classes(c, group->first, partner, false);
            totals->candidates += all;
            totals->wanted += all - rh_candidates_count_classes(c, group->first, partner, true);
        }
    }
    rh_vec_each (struct class, class, &c->classes)
        totals->sites += class->grouped ? class->count : 0;
}
