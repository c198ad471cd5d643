/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the candidates of a program ready to be walked: see candidates.h. */
#include "base/map.h"
#include "base/mem.h"
#include "candidate/member.h"
#include "candidate/score.h"
#include "racehive/access.h"
#include "store/candidates_internal.h"
#include "store/sidecar_internal.h"

#include <stdlib.h>

/* --- counting --- */

void rh_candidates_tally(struct tally *tally, enum rh_access_kind access)
{
    if (access == RH_ACCESS_FENCE)
        return;
    tally->sites++;
    tally->reads += !rh_kind_writes(access);
    tally->atomics += !rh_kind_is_plain(access);
    tally->atomic_reads += !rh_kind_is_plain(access) && !rh_kind_writes(access);
}

/* All pairs, less those that only read, less those of two atomics; two atomic reads are both. */
uint64_t rh_candidates_count_pairs(const struct tally *a, const struct tally *b)
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

uint64_t rh_candidates_count_classes(const struct rh_candidates *c, uint32_t a, uint32_t b,
                                     bool unwanted)
{
    const struct class *x = &c->classes.data[a], *y = &c->classes.data[b];
    const struct tally *of_x = unwanted ? &x->unwanted : &x->all;
    return x == y ? count_own_pairs(of_x)
                  : rh_candidates_count_pairs(of_x, unwanted ? &y->unwanted : &y->all);
}

/* --- members, groups and portions --- */

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->class_number != y->class_number)
        return x->class_number < y->class_number ? -1 : 1;
    return rh_sidecar_compare_locations(x->site, y->site);
}

/* Numbers for what the members name. */
static void number_names(struct rh_candidates *c)
{
    struct rh_strmap names = RH_STRMAP_INIT;
    uint64_t count = 0;
    rh_vec_each (struct member, member, &c->members) {
        struct rh_member name = rh_member_of(member->site->expression);
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

/* All members are there: puts them in the order of their classes and of the source. */
static void order_members(struct rh_candidates *c)
{
    if (c->members.len > 0)
        qsort(c->members.data, c->members.len, sizeof *c->members.data, compare_members);
    number_names(c);
    for (size_t i = 0; i < c->members.len; i++) {
        const struct member *member = &c->members.data[i];
        struct class *class = &c->classes.data[member->class_number];
        if (class->count++ == 0)
            class->first = i;
        rh_candidates_tally(&class->all, member->site->access);
    }
    order_by_name(c);
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
        struct portion portion = {group, rh_score_candidate(row->score, alike), is_part, alike};
        rh_vec_push(&c->portions, portion);
    }
}

/* Marks the classes of a group that are in candidates; false if none is. */
static bool mark_grouped(struct rh_candidates *c, const struct rh_sidecar_group *group)
{
    struct rh_packed_walk walk = rh_packed_walk(group->partners, group->partners_len);
    bool any = false;
    for (uint32_t partner; rh_packed_next(&walk, &partner);) {
        if (rh_candidates_count_classes(c, group->first, partner, false) == 0)
            continue;
        c->classes.data[group->first].grouped = c->classes.data[partner].grouped = true;
        any = true;
    }
    return any;
}

static void add_class(struct rh_candidates *c, const struct rh_sidecar_class *row)
{
    struct class class = {.row = *row};
    rh_vec_push(&c->classes, class);
}

static void add_member(struct rh_candidates *c, const struct rh_sidecar_site *site,
                       uint32_t class_number)
{
    struct member member = {.site = site, .class_number = class_number};
    rh_vec_push(&c->members, member);
}

/* A group without candidates is left out. */
static void add_group(struct rh_candidates *c, const struct rh_sidecar_group *group)
{
    if (!mark_grouped(c, group))
        return;
    rh_vec_push(&c->groups, *group);
    add_portions(c, c->groups.len - 1);
}

static void order_portions(struct rh_candidates *c)
{
    if (c->portions.len > 0)
        qsort(c->portions.data, c->portions.len, sizeof *c->portions.data, compare_portions);
}

/* --- from a sidecar, or from parts in memory --- */

static enum rh_status load_classes(struct rh_candidates *c, struct rh_sidecar *sidecar)
{
    for (;;) {
        struct rh_sidecar_class row;
        bool more;
        enum rh_status status = rh_sidecar_next_class(sidecar, &row, &more);
        if (status != RH_OK || !more)
            return status;
        add_class(c, &row);
    }
}

static enum rh_status load_members(struct rh_candidates *c, struct rh_sidecar *sidecar)
{
    const struct rh_sidecar_site *sites;
    uint32_t site_count;
    enum rh_status status = rh_sidecar_load_sites(sidecar, &sites, &site_count);
    if (status != RH_OK)
        return status;
    for (;;) {
        uint32_t site, class_number;
        bool more;
        status = rh_sidecar_next_class_site(sidecar, &site, &class_number, &more);
        if (status != RH_OK || !more)
            break;
        add_member(c, &sites[site], class_number);
    }
    order_members(c);
    return status;
}

static enum rh_status load_groups(struct rh_candidates *c, struct rh_sidecar *sidecar)
{
    for (;;) {
        struct rh_sidecar_group group;
        bool more;
        enum rh_status status = rh_sidecar_next_group(sidecar, &group, &more);
        if (status != RH_OK || !more) {
            order_portions(c);
            return status;
        }
        add_group(c, &group);
    }
}

enum rh_status rh_candidates_open(struct rh_sidecar *sidecar,
                                  const struct rh_candidates_filter *filter,
                                  struct rh_candidates **candidates)
{
    struct rh_candidates *c = rh_calloc(1, sizeof *c);
    enum rh_status status = load_classes(c, sidecar);
    if (status == RH_OK)
        status = load_members(c, sidecar);
    if (status == RH_OK)
        status = load_groups(c, sidecar);
    if (status != RH_OK) {
        rh_candidates_close(c);
        return status;
    }
    rh_candidates_restart(c, filter);
    *candidates = c;
    return RH_OK;
}

struct rh_candidates *rh_candidates_assemble(const struct rh_candidates_parts *parts)
{
    struct rh_candidates *c = rh_calloc(1, sizeof *c);
    for (size_t i = 0; i < parts->class_count; i++)
        add_class(c, &parts->classes[i]);
    for (size_t i = 0; i < parts->member_count; i++)
        add_member(c, &parts->sites[parts->members[i].site], parts->members[i].class_number);
    order_members(c);
    for (size_t i = 0; i < parts->group_count; i++)
        add_group(c, &parts->groups[i]);
    order_portions(c);
    rh_candidates_restart(c, NULL);
    return c;
}

void rh_candidates_close(struct rh_candidates *c)
{
    rh_vec_free(&c->members);
    rh_vec_free(&c->classes);
    rh_vec_free(&c->groups);
    rh_vec_free(&c->portions);
    rh_vec_free(&c->by_name);
    rh_vec_free(&c->wanted);
    rh_vec_free(&c->before);
    rh_map_release(&c->class_of);
    rh_map_release(&c->last_group);
    free(c);
}
