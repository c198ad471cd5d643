/*
 * Walks the candidates of a sidecar lazily.
 *
 * The sites of each class stand together in `members`, in the order of the source. A group is
 * walked as a matrix, a row for each site of its first class and a column for each of its second;
 * of a class with itself only the half with column >= row. The filter marks members: in the row of
 * a member that is not wanted only the columns of wanted members are looked at, so that a walk
 * costs what it finds.
 */
#include "store/candidates.h"

#include "base/hash.h"
#include "base/mem.h"
#include "store/sidecar_int.h"

#include <stdlib.h>

/* A site in its class. */
struct member {
    const struct rh_sidecar_site *site;
    uint32_t class_number;
    bool wanted;
};

/* Sites by what they do to memory. */
struct tally {
    uint64_t sites[RH_ACCESS_COUNT];
};

struct class
{
    struct rh_sidecar_class row;
    size_t first; /* of its sites in `members` */
    uint32_t count;
    size_t first_wanted; /* of its places in `wanted` */
    uint32_t wanted_count;
    struct tally all, unwanted;
    bool grouped; /* in a group that has candidates */
};

/* Some members of a class, as places in it; without places, all of them. */
struct selection {
    const uint32_t *places;
    uint32_t count;
};

struct rh_candidates {
    struct rh_sidecar *sidecar;
    RH_VEC(struct member) members;
    RH_VEC(struct class) classes;
    RH_VEC(struct rh_sidecar_group) groups; /* best first */
    RH_VEC(uint32_t) wanted;                /* places in their class, class by class, rising */
    /* Where the walk is: the next pair to look at. */
    size_t group;
    struct selection rows, columns;
    uint32_t row, column;
};

static bool writes(enum rh_access_kind access)
{
    return access == RH_ACCESS_WRITE || access == RH_ACCESS_ATOMIC_WRITE ||
           access == RH_ACCESS_ATOMIC_UPDATE;
}

static bool is_plain(enum rh_access_kind access)
{
    return access == RH_ACCESS_READ || access == RH_ACCESS_WRITE;
}

static bool conflict(enum rh_access_kind a, enum rh_access_kind b)
{
    return a != RH_ACCESS_FENCE && b != RH_ACCESS_FENCE && (writes(a) || writes(b)) &&
           (is_plain(a) || is_plain(b));
}

/* --- loading --- */

static enum rh_status load_classes(struct rh_candidates *c)
{
    for (;;) {
        struct class class = {0};
        bool more;
        enum rh_status status = rh_sidecar_next_class(c->sidecar, &class.row, &more);
        if (status != RH_OK || !more)
            return status;
        rh_vec_push(&c->classes, class);
    }
}

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->class_number != y->class_number)
        return x->class_number < y->class_number ? -1 : 1;
    return rh_sidecar_compare_places(x->site, y->site);
}

static enum rh_status collect_members(struct rh_candidates *c)
{
    const struct rh_sidecar_site *sites;
    uint32_t site_count;
    enum rh_status status = rh_sidecar_load_sites(c->sidecar, &sites, &site_count);
    if (status != RH_OK)
        return status;
    for (;;) {
        uint32_t site, class_number;
        bool more;
        status = rh_sidecar_next_class_site(c->sidecar, &site, &class_number, &more);
        if (status != RH_OK || !more)
            return status;
        struct member member = {.site = &sites[site], .class_number = class_number};
        rh_vec_push(&c->members, member);
    }
}

static enum rh_status load_members(struct rh_candidates *c)
{
    enum rh_status status = collect_members(c);
    if (status != RH_OK)
        return status;
    if (c->members.len > 0)
        qsort(c->members.data, c->members.len, sizeof *c->members.data, compare_members);
    for (size_t i = 0; i < c->members.len; i++) {
        const struct member *member = &c->members.data[i];
        struct class *class = &c->classes.data[member->class_number];
        if (class->count++ == 0)
            class->first = i;
        class->all.sites[member->site->access]++;
    }
    return RH_OK;
}

static int compare_groups(const void *a, const void *b)
{
    const struct rh_sidecar_group *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static uint64_t count_pairs(const struct tally *a, const struct tally *b, bool same)
{
    uint64_t pairs = 0;
    for (int i = 0; i < RH_ACCESS_COUNT; i++) {
        for (int j = same ? i : 0; j < RH_ACCESS_COUNT; j++) {
            if (!conflict((enum rh_access_kind)i, (enum rh_access_kind)j))
                continue;
            /* Of n sites, n + 1 over 2: each with each, and each with itself. */
            pairs +=
                same && i == j ? a->sites[i] * (a->sites[i] + 1) / 2 : a->sites[i] * b->sites[j];
        }
    }
    return pairs;
}

/* All candidates of a group, or those of which no site is wanted. */
static uint64_t count_group(const struct rh_candidates *c, const struct rh_sidecar_group *group,
                            bool unwanted)
{
    const struct class *first = &c->classes.data[group->first];
    const struct class *second = &c->classes.data[group->second];
    return unwanted ? count_pairs(&first->unwanted, &second->unwanted, first == second)
                    : count_pairs(&first->all, &second->all, first == second);
}

static enum rh_status load_groups(struct rh_candidates *c)
{
    struct rh_map pairs = RH_MAP_INIT;
    enum rh_status status;
    for (;;) {
        struct rh_sidecar_group group;
        bool more;
        status = rh_sidecar_next_group(c->sidecar, &group, &more);
        if (status != RH_OK || !more)
            break;
        if (!rh_map_put(&pairs, (uint64_t)group.first << 32 | group.second, 0)) {
            status = rh_sidecar_fail_damaged(c->sidecar, "groups");
            break;
        }
        if (count_group(c, &group, false) == 0)
            continue;
        rh_vec_push(&c->groups, group);
        c->classes.data[group.first].grouped = c->classes.data[group.second].grouped = true;
    }
    rh_map_release(&pairs);
    if (status == RH_OK && c->groups.len > 0)
        qsort(c->groups.data, c->groups.len, sizeof *c->groups.data, compare_groups);
    return status;
}

enum rh_status rh_candidates_open(struct rh_sidecar *sidecar,
                                  const struct rh_candidates_filter *filter,
                                  struct rh_candidates **candidates)
{
    struct rh_candidates *c = rh_calloc(1, sizeof *c);
    c->sidecar = sidecar;
    enum rh_status status = load_classes(c);
    if (status == RH_OK)
        status = load_members(c);
    if (status == RH_OK)
        status = load_groups(c);
    if (status != RH_OK) {
        rh_candidates_close(c);
        return status;
    }
    rh_candidates_restart(c, filter);
    *candidates = c;
    return RH_OK;
}

void rh_candidates_close(struct rh_candidates *c)
{
    rh_vec_free(&c->members);
    rh_vec_free(&c->classes);
    rh_vec_free(&c->groups);
    rh_vec_free(&c->wanted);
    free(c);
}

/* --- walking --- */

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

static const struct class *first_class(const struct rh_candidates *c)
{
    return &c->classes.data[c->groups.data[c->group].first];
}

static const struct class *second_class(const struct rh_candidates *c)
{
    return &c->classes.data[c->groups.data[c->group].second];
}

static bool conflicts_with_any(enum rh_access_kind access, const struct class *class)
{
    for (int i = 0; i < RH_ACCESS_COUNT; i++)
        if (class->all.sites[i] > 0 && conflict(access, (enum rh_access_kind)i))
            return true;
    return false;
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
    else
        c->columns = member->wanted ? select_all(second) : select_wanted(c, second);
    if (first == second)
        c->column = find_place(&c->columns, place);
}

static void start_group(struct rh_candidates *c, size_t group)
{
    c->group = group;
    if (group >= c->groups.len)
        return;
    c->rows = second_class(c)->wanted_count > 0 ? select_all(first_class(c))
                                                : select_wanted(c, first_class(c));
    start_row(c, 0);
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
                class->unwanted.sites[member->site->access]++;
        }
        class->wanted_count = (uint32_t)(c->wanted.len - class->first_wanted);
    }
    start_group(c, 0);
}

static uint64_t identify(const struct rh_sidecar_site *a, const struct rh_sidecar_site *b)
{
    struct rh_hash hash;
    bool in_order = a->fingerprint <= b->fingerprint;
    rh_hash_init(&hash);
    rh_hash_add_u64(&hash, in_order ? a->fingerprint : b->fingerprint);
    rh_hash_add_u64(&hash, in_order ? b->fingerprint : a->fingerprint);
    return rh_hash_finish(&hash);
}

uint64_t rh_candidate_stranger(const struct rh_sidecar_site *site)
{
    struct rh_hash hash;
    rh_hash_init(&hash);
    rh_hash_add_u64(&hash, site->fingerprint);
    rh_hash_add_string(&hash, "stranger");
    return rh_hash_finish(&hash);
}

static void make_candidate(const struct rh_candidates *c, const struct member *a,
                           const struct member *b, struct rh_candidate *out)
{
    if (rh_sidecar_compare_places(a->site, b->site) > 0) {
        const struct member *other = a;
        a = b;
        b = other;
    }
    *out = (struct rh_candidate){
        .id = identify(a->site, b->site),
        .first = a->site,
        .second = b->site,
        .first_class = &c->classes.data[a->class_number].row,
        .second_class = &c->classes.data[b->class_number].row,
        .group = &c->groups.data[c->group],
    };
}

/* Goes on in the present row; false at its end. */
static bool next_in_row(struct rh_candidates *c, struct rh_candidate *candidate)
{
    const struct member *a = &c->members.data[first_class(c)->first + place_at(&c->rows, c->row)];
    while (c->column < c->columns.count) {
        uint32_t place = place_at(&c->columns, c->column++);
        const struct member *b = &c->members.data[second_class(c)->first + place];
        if (conflict(a->site->access, b->site->access)) {
            make_candidate(c, a, b, candidate);
            return true;
        }
    }
    return false;
}

bool rh_candidates_next(struct rh_candidates *c, struct rh_candidate *candidate)
{
    for (; c->group < c->groups.len; start_group(c, c->group + 1))
        for (; c->row < c->rows.count; start_row(c, c->row + 1))
            if (next_in_row(c, candidate))
                return true;
    return false;
}

/* --- counting --- */

void rh_candidates_count(const struct rh_candidates *c, struct rh_candidates_totals *totals)
{
    *totals = (struct rh_candidates_totals){.groups = c->groups.len};
    rh_vec_each (struct rh_sidecar_group, group, &c->groups) {
        uint64_t all = count_group(c, group, false);
        totals->candidates += all;
        totals->wanted += all - count_group(c, group, true);
    }
    rh_vec_each (struct class, class, &c->classes)
        totals->sites += class->grouped ? class->count : 0;
}
