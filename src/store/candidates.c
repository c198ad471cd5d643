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
#include "store/candidates.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/packed.h"
#include "store/sidecar_internal.h"

#include <stdlib.h>

/* A site in its class. */
struct member {
    const struct rh_sidecar_site *site;
    uint32_t class_number;
    uint32_t name; /* number of the member it names; 0 if none */
    bool wanted;
};

/* Sites by what they do to memory; fences do nothing to it. */
struct tally {
    uint64_t sites, reads, atomics, atomic_reads;
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

struct portion {
    size_t group;
    uint32_t score;
    bool is_part; /* of a group that is walked twice: those that are `alike`, or the others */
    bool alike;
};

struct rh_candidates {
    struct rh_sidecar *sidecar;
    RH_VEC(struct member) members;
    RH_VEC(uint32_t) by_name; /* places in their class, class by class, by name and rising */
    RH_VEC(struct class) classes;
    RH_VEC(struct rh_sidecar_group) groups;
    RH_VEC(struct portion) portions; /* best first */
    RH_VEC(uint32_t) wanted;         /* places in their class, class by class, rising */
    /* Where the walk is: the next pair to look at. */
    size_t portion;
    struct rh_packed_walk partners;
    uint32_t partner;
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

static void add_to_tally(struct tally *tally, enum rh_access_kind access)
{
    if (access == RH_ACCESS_FENCE)
        return;
    tally->sites++;
    tally->reads += !writes(access);
    tally->atomics += !is_plain(access);
    tally->atomic_reads += !is_plain(access) && !writes(access);
}

/* All pairs, less those that only read, less those of two atomics; two atomic reads are both. */
static uint64_t count_pairs(const struct tally *a, const struct tally *b)
{
    return a->sites * b->sites - a->reads * b->reads - a->atomics * b->atomics +
           a->atomic_reads * b->atomic_reads;
}

/* Of n things, each with each and each with itself. */
static uint64_t choose_two(uint64_t n)
{
    return n * (n + 1) / 2;
}

/* The same in one class. */
static uint64_t count_own_pairs(const struct tally *a)
{
    return choose_two(a->sites) - choose_two(a->reads) - choose_two(a->atomics) +
           choose_two(a->atomic_reads);
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

/* Numbers for what the members name. */
static void number_names(struct rh_candidates *c)
{
    struct rh_strmap names = RH_STRMAP_INIT;
    uint64_t count = 0;
    rh_vec_each (struct member, member, &c->members) {
        struct rh_alike_name name = rh_alike_name(member->site->expression);
        char *text = name.len
                         ? rh_format("%.*s%s", (int)name.len, name.text, name.is_inside ? "[]" : "")
                         : NULL;
        uintptr_t number = text ? (uintptr_t)rh_strmap_get(&names, text) : 0;
        if (text && !number) {
            number = ++count;
            rh_strmap_put(&names, text, (void *)number);
        }
        member->name = (uint32_t)number;
        free(text);
    }
    rh_strmap_release(&names);
}

struct named {
    uint32_t class_number, name, place;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    if (x->class_number != y->class_number)
        return x->class_number < y->class_number ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static void order_by_name(struct rh_candidates *c)
{
    RH_VEC(struct named) all = {0};
    for (size_t i = 0; i < c->members.len; i++) {
        const struct member *member = &c->members.data[i];
        size_t first = c->classes.data[member->class_number].first;
        struct named one = {member->class_number, member->name, (uint32_t)(i - first)};
        rh_vec_push(&all, one);
    }
    if (all.len > 0)
        qsort(all.data, all.len, sizeof *all.data, compare_named);
    rh_vec_each (struct named, one, &all)
        rh_vec_push(&c->by_name, one->place);
    rh_vec_free(&all);
}

static enum rh_status load_members(struct rh_candidates *c)
{
    enum rh_status status = collect_members(c);
    if (status != RH_OK)
        return status;
    if (c->members.len > 0)
        qsort(c->members.data, c->members.len, sizeof *c->members.data, compare_members);
    number_names(c);
    for (size_t i = 0; i < c->members.len; i++) {
        const struct member *member = &c->members.data[i];
        struct class *class = &c->classes.data[member->class_number];
        if (class->count++ == 0)
            class->first = i;
        add_to_tally(&class->all, member->site->access);
    }
    order_by_name(c);
    return RH_OK;
}

static int compare_portions(const void *a, const void *b)
{
    const struct portion *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return y->alike - x->alike;
}

static void add_portions(struct rh_candidates *c, size_t group)
{
    const struct rh_sidecar_group *row = &c->groups.data[group];
    bool is_part = row->flags & RH_GROUP_VAGUE;
    for (int alike = is_part; alike >= 0; alike--) {
        struct portion portion = {group, rh_alike_score(row, alike), is_part, alike};
        rh_vec_push(&c->portions, portion);
    }
}

/* All candidates of two classes, or those of which no site is wanted. */
static uint64_t count_classes(const struct rh_candidates *c, uint32_t a, uint32_t b, bool unwanted)
{
    const struct class *x = &c->classes.data[a], *y = &c->classes.data[b];
    const struct tally *of_x = unwanted ? &x->unwanted : &x->all;
    return x == y ? count_own_pairs(of_x) : count_pairs(of_x, unwanted ? &y->unwanted : &y->all);
}

/* Marks the classes of a group that are in candidates; false if none is. */
static bool mark_grouped(struct rh_candidates *c, const struct rh_sidecar_group *group)
{
    struct rh_packed_walk walk = rh_packed_walk(group->partners, group->partners_len);
    bool any = false;
    for (uint32_t partner; rh_packed_next(&walk, &partner);) {
        if (count_classes(c, group->first, partner, false) == 0)
            continue;
        c->classes.data[group->first].grouped = c->classes.data[partner].grouped = true;
        any = true;
    }
    return any;
}

static enum rh_status load_groups(struct rh_candidates *c)
{
    for (;;) {
        struct rh_sidecar_group group;
        bool more;
        enum rh_status status = rh_sidecar_next_group(c->sidecar, &group, &more);
        if (status != RH_OK)
            return status;
        if (!more)
            break;
        if (!mark_grouped(c, &group))
            continue;
        rh_vec_push(&c->groups, group);
        add_portions(c, c->groups.len - 1);
    }
    if (c->portions.len > 0)
        qsort(c->portions.data, c->portions.len, sizeof *c->portions.data, compare_portions);
    return RH_OK;
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
    rh_vec_free(&c->portions);
    rh_vec_free(&c->by_name);
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
    add_to_tally(&one, access);
    return count_pairs(&one, &class->all) > 0;
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
                add_to_tally(&class->unwanted, member->site->access);
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

uint64_t rh_candidate_uninstrumented(const struct rh_sidecar_site *site)
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
        if (conflict(a->site->access, b->site->access) && is_in_portion(present(c), a, b)) {
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

/* --- counting --- */

void rh_candidates_count(const struct rh_candidates *c, struct rh_candidates_totals *totals)
{
    *totals = (struct rh_candidates_totals){.groups = c->groups.len};
    rh_vec_each (struct rh_sidecar_group, group, &c->groups) {
        struct rh_packed_walk walk = rh_packed_walk(group->partners, group->partners_len);
        for (uint32_t partner; rh_packed_next(&walk, &partner);) {
            uint64_t all = count_classes(c, group->first, partner, false);
            totals->candidates += all;
            totals->wanted += all - count_classes(c, group->first, partner, true);
        }
    }
    rh_vec_each (struct class, class, &c->classes)
        totals->sites += class->grouped ? class->count : 0;
}
