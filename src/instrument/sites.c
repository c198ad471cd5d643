/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the sites of a module and groups them under keys: see sites.h. */
#include "instrument/sites.h"

#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "candidate/member.h"
#include "instrument/checks.h"
#include "instrument/gates.h"
#include "ir/graph/sweep.h"
#include "ir/names/expr.h"
#include "racehive/check.h"

/* An address but for a constant offset: a base, and multiples of indices. */
struct place {
    struct rh_value *base;
    uint32_t term_count;
    struct rh_gep_term terms[2]; /* index and scale */
};

/* A site of the current block, before it is given a key. */
struct member {
    const struct rh_access *access;
    struct place place;
    int64_t offset;  /* of the pointer from its place */
    bool is_covered; /* by another of its group */
};

/* A key being filled: sites of the current block that share a place. */
struct group {
    struct place place;
    RH_VEC(struct member) members;
};

struct collector {
    const struct rh_accesses *accesses;
    const struct rh_stores *stores; /* or NULL */
    struct rh_sites *out;
    struct rh_expr *expr;
    struct rh_function *fn;
    struct rh_cfg *cfg;
    bool checked;
    RH_VEC(const struct rh_access *) superfluous; /* sites that need no check */
    RH_VEC(struct group) open;                    /* groups that may still grow, of one block */
    size_t open_count;
};

/* --- the accesses of instructions --- */

/* The accesses of an instruction: they stand in the order of the code, so a search finds them. */
static const struct rh_access *accesses_of(const struct collector *c, const struct rh_value *inst,
                                           uint32_t *count)
{
    const struct rh_access *all = c->accesses->all.data;
    uint32_t low = c->accesses->first_of[c->fn->id], end = c->accesses->first_of[c->fn->id + 1];
    uint32_t high = end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (all[middle].inst->id < inst->id)
            low = middle + 1;
        else
            high = middle;
    }
    for (high = low; high < end && all[high].inst == inst;)
        high++;
    *count = high - low;
    return all + low;
}

static bool is_sum(const struct rh_value *v)
{
    return (v->op == RH_OP_ADD || (v->op == RH_OP_OR && v->never_wraps)) &&
           v->kind == RH_VALUE_INST && v->ops[1]->kind == RH_VALUE_INT;
}

/* Adds a multiple of an index, less the constants that were added to that: loops are unrolled so.
 */
static void add_term(struct place *place, struct rh_gep_term term, int64_t *offset)
{
    for (; is_sum(term.index); term.index = term.index->ops[0])
        *offset =
            (int64_t)((uint64_t)*offset + (uint64_t)term.index->ops[1]->num * (uint64_t)term.scale);
    place->terms[place->term_count++] = term;
}

/* Only a number of 64 bits wraps as addresses do. */
static bool has_wide_indices(const struct rh_gep *gep)
{
    for (uint32_t i = 0; i < gep->term_count; i++)
        if (gep->terms[i].index->type->kind != RH_TYPE_INT || gep->terms[i].index->type->bits != 64)
            return false;
    return true;
}

/* `indices`: with multiples of them, not constants alone. */
static void find_place(struct rh_value *pointer, bool indices, struct place *place, int64_t *offset)
{
    const uint32_t room = indices ? sizeof place->terms / sizeof place->terms[0] : 0;
    *offset = 0;
    *place = (struct place){0};
    while (pointer->gep && !pointer->gep->unknown &&
           place->term_count + pointer->gep->term_count <= room && has_wide_indices(pointer->gep)) {
        *offset = (int64_t)((uint64_t)*offset + (uint64_t)pointer->gep->offset);
        for (uint32_t i = 0; i < pointer->gep->term_count; i++)
            add_term(place, pointer->gep->terms[i], offset);
        pointer = pointer->ops[0];
    }
    place->base = pointer;
}

static bool is_same_place(const struct place *a, const struct place *b)
{
    bool same = a->base == b->base && a->term_count == b->term_count;
    for (uint32_t i = 0; i < a->term_count && same; i++)
        same = a->terms[i].index == b->terms[i].index && a->terms[i].scale == b->terms[i].scale;
    return same;
}

/* Atomics, volatile accesses and those whose length only the run knows have a key of their own. */
static bool stands_alone(const struct rh_access *a)
{
    return !a->pointer || rh_access_is_atomic(a) || a->in_library ||
           a->flags & (RH_SITE_VOLATILE | RH_SITE_SIZED);
}

/* --- naming --- */

/*
 * What identifies a site across rebuilds: where it stands by names, not by lines. Accesses that
 * would be the same get an ordinal, in the order of the code.
 */
static uint64_t fingerprint_of(const struct rh_site *site)
{
    struct rh_hash h;
    rh_hash_init(&h);
    rh_hash_add_string(&h, site->inst->fn->name);
    for (const struct rh_loc *l = site->inst->loc; l; l = l->inlined_at) {
        const char *slash = strrchr(l->file, '/');
        rh_hash_add_string(&h, slash ? slash + 1 : l->file);
        rh_hash_add_string(&h, l->linkage);
    }
    rh_hash_add_string(&h, site->expression);
    rh_hash_add_u64(&h, site->record.access);
    rh_hash_add_u64(&h, site->record.order);
    rh_hash_add_u64(&h, site->record.size);
    return rh_hash_finish(&h);
}

static const char *name_access(struct collector *c, const struct rh_access *a)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    const char *name = "";
    if (a->pointer && rh_expr_describe(c->expr, a->inst, a->pointer, 0, a->size, &text))
        name = rh_arena_strdup(&c->out->arena, rh_strbuf_text(&text));
    rh_strbuf_release(&text);
    return name;
}

static void add_site(struct collector *c, const struct rh_access *a, uint32_t key, int64_t offset)
{
    struct rh_site site = {
        .inst = a->inst,
        .pointer = a->pointer,
        .length = a->length,
        .access = (uint32_t)(a - c->accesses->all.data),
        .key = key,
        .record = {.size = (uint32_t)a->size,
                   .offset = (int32_t)offset,
                   .access = a->kind,
                   .order = a->order,
                   .flags = a->flags},
        .expression = name_access(c, a),
    };
    site.record.kin = rh_member_kin(site.expression);
    site.fingerprint = fingerprint_of(&site);
    rh_vec_push(&c->out->sites, site);
}

/* --- grouping --- */

static void add_key(struct collector *c, const struct member *members, size_t count)
{
    struct rh_key key = {
        .kind = RH_KEY_ACCESS,
        .first_site = (uint32_t)c->out->sites.len,
        .site_count = (uint32_t)count,
        .gate = RH_NO_GATE,
        .fn = c->fn,
    };
    uint32_t number = (uint32_t)c->out->keys.len;
    for (size_t i = 0; i < count; i++)
        add_site(c, members[i].access, number, members[i].offset - members[0].offset);
    rh_vec_push(&c->out->keys, key);
    if (!members[0].access->acquires)
        return;
    key.kind = RH_KEY_AFTER;
    rh_vec_push(&c->out->keys, key);
}

/* Whether whatever races with `a` races with `b`, too: b touches all bytes of a, and writes if a
 * does. */
static bool is_contained(const struct member *a, const struct member *b)
{
    return a->offset >= b->offset &&
           a->offset + (int64_t)a->access->size <= b->offset + (int64_t)b->access->size &&
           (b->access->kind == RH_ACCESS_WRITE || a->access->kind == RH_ACCESS_READ);
}

/* Of two that contain each other the first is kept. */
static bool is_superfluous(const struct group *group, size_t member)
{
    const struct member *m = &group->members.data[member];
    for (size_t i = 0; i < group->members.len; i++) {
        const struct member *other = &group->members.data[i];
        if (i != member && is_contained(m, other) && (i < member || !is_contained(other, m)))
            return true;
    }
    return false;
}

static bool is_of_one_line(const struct rh_loc *a, const struct rh_loc *b)
{
    return a == b || (a && b && a->line == b->line && a->inlined_at == b->inlined_at &&
                      strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0);
}

/* The member that begins where this one ends, or ends where it begins, and else is alike. */
static struct member *find_neighbour(const struct group *group, const struct member *m,
                                     bool is_above)
{
    int64_t distance = is_above ? (int64_t)m->access->size : -(int64_t)m->access->size;
    for (size_t i = 0; i < group->members.len; i++) {
        struct member *other = &group->members.data[i];
        if (other->access && other->offset == m->offset + distance &&
            other->access->kind == m->access->kind && other->access->size == m->access->size &&
            is_of_one_line(other->access->inst->loc, m->access->inst->loc))
            return other;
    }
    return NULL;
}

/* Adds the next neighbour to a run, and takes it out of the group. */
static bool extend_run(struct collector *c, struct group *group, struct member *end, bool is_above)
{
    struct member *next = find_neighbour(group, end, is_above);
    if (!next)
        return false;
    *end = *next;
    rh_vec_push(&c->superfluous, next->access);
    next->access = NULL;
    return true;
}

/* A key of its own for a member, and for those that stand beside it in memory. */
static void add_run(struct collector *c, struct group *group, struct member first)
{
    struct member low = first, high = first;
    uint32_t size = (uint32_t)first.access->size, run = 1;
    add_key(c, &first, 1);
    struct rh_site *site = &rh_vec_last(&c->out->sites);
    bool fits = size && (RH_CHECK_GRANULE % size == 0 || size % RH_CHECK_GRANULE == 0);
    while (fits && (run + 1) * size <= RH_CHECK_MOST_RUN && extend_run(c, group, &high, true))
        run++;
    while (fits && (run + 1) * size <= RH_CHECK_MOST_RUN && extend_run(c, group, &low, false))
        run++;
    site->run = run > 1 ? run : 0;
    site->lead = (int32_t)(low.offset - first.offset);
}

static void add_checks(struct collector *c, struct group *group)
{
    for (size_t i = 0; i < group->members.len; i++) {
        struct member *m = &group->members.data[i];
        if (!is_superfluous(group, i))
            continue;
        rh_vec_push(&c->superfluous, m->access);
        m->is_covered = true;
    }
    for (size_t i = 0; i < group->members.len; i++)
        if (group->members.data[i].is_covered)
            group->members.data[i].access = NULL;
    for (size_t i = 0; i < group->members.len; i++) {
        struct member first = group->members.data[i];
        if (!first.access)
            continue;
        group->members.data[i].access = NULL;
        add_run(c, group, first);
    }
}

static void close_groups(struct collector *c)
{
    for (size_t g = 0; g < c->open_count; g++) {
        struct group *group = &c->open.data[g];
        if (c->checked)
            add_checks(c, group);
        else
            add_key(c, group->members.data, group->members.len);
        rh_vec_clear(&group->members);
    }
    c->open_count = 0;
}

static struct group *group_for(struct collector *c, const struct member *a)
{
    enum { MAX_MEMBERS = 1000 };
    for (size_t g = 0; g < c->open_count; g++) {
        struct group *group = &c->open.data[g];
        int64_t distance = a->offset - group->members.data[0].offset;
        if (is_same_place(&group->place, &a->place) && group->members.len < MAX_MEMBERS &&
            distance >= INT32_MIN && distance <= INT32_MAX)
            return group;
    }
    if (c->open_count == c->open.len)
        rh_vec_push(&c->open, (struct group){0});
    struct group *group = &c->open.data[c->open_count++];
    group->place = a->place;
    return group;
}

static void add_access(struct collector *c, const struct rh_access *a)
{
    struct member member = {.access = a};
    if (a->pointer)
        find_place(a->pointer, c->checked, &member.place, &member.offset);
    if (stands_alone(a)) {
        add_key(c, &member, 1);
        return;
    }
    struct group *group = group_for(c, &member);
    rh_vec_push(&group->members, member);
}

static void add_stores(struct collector *c, const struct rh_value *inst)
{
    uint32_t count = 0;
    const struct rh_store *stores = c->stores ? rh_stores_of(c->stores, inst, &count) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct rh_key key = {.kind = RH_KEY_ESCAPE,
                                   .first_site = (uint32_t)c->out->sites.len,
                                   .gate = RH_NO_GATE,
                                   .fn = c->fn,
                                   .store = &stores[i]};
        rh_vec_push(&c->out->keys, key);
    }
}

static void collect_block(struct collector *c, struct rh_block *block)
{
    for (struct rh_value *inst = block->first; inst; inst = inst->next) {
        uint32_t n;
        const struct rh_access *found = accesses_of(c, inst, &n);
        if (rh_gates_is_boundary(inst))
            close_groups(c);
        for (uint32_t i = 0; i < n; i++)
            if (rh_access_is_site(&found[i]))
                add_access(c, &found[i]);
        add_stores(c, inst);
    }
    close_groups(c);
}

/* --- gates --- */

const struct rh_block *rh_key_block(const struct rh_sites *s, const struct rh_key *key)
{
    return key->store ? key->store->place->block : s->sites.data[key->first_site].inst->block;
}

struct loop_list RH_VEC_BODY(const struct rh_loop *);

/* Keys of atomics and fences need no gate: they stand in both bodies. */
static bool needs_gate(const struct collector *c, const struct rh_key *key)
{
    if (key->store)
        return true;
    const struct rh_site *site = &c->out->sites.data[key->first_site];
    return !rh_access_is_atomic(&c->accesses->all.data[site->access]);
}

/* Puts the gate before the function's other keys. */
static void add_gate(struct collector *c, const struct rh_key *gate, size_t first)
{
    struct rh_sites *s = c->out;
    size_t first_site = s->keys.data[first].first_site;
    size_t count = s->keys.len - first;
    rh_vec_push(&s->keys, *gate);
    struct rh_key *keys = &s->keys.data[first];
    memmove(keys + 1, keys, count * sizeof *keys);
    keys[0] = *gate;
    for (size_t k = 1; k <= count; k++)
        if (needs_gate(c, &keys[k]))
            keys[k].gate = (uint32_t)first;
    for (size_t i = first_site; i < s->sites.len; i++)
        s->sites.data[i].key++;
}

/* The tight loops with keys behind the gate `first`; by loop id, `numbers` gets their places in the
 * list plus 1. None if one loop has all the keys: then the function's gate is as good. */
static void find_tight_loops(const struct collector *c, size_t first, struct loop_list *loops,
                             uint32_t *numbers)
{
    bool elsewhere = false;
    for (size_t k = first + 1; k < c->out->keys.len; k++) {
        const struct rh_key *key = &c->out->keys.data[k];
        const struct rh_loop *loop = rh_cfg_loop_of(c->cfg, rh_key_block(c->out, key));
        if (key->gate != first || (loop && numbers[loop->id]))
            continue;
        elsewhere |= !loop || !rh_gates_is_tight(loop);
        if (!loop || !rh_gates_is_tight(loop))
            continue;
        rh_vec_push(loops, loop);
        numbers[loop->id] = (uint32_t)loops->len;
    }
    if (loops->len == 1 && !elsewhere) {
        numbers[loops->data[0]->id] = 0;
        rh_vec_clear(loops);
    }
}

static struct rh_key make_loop_gate(struct collector *c, size_t first, const struct rh_loop *loop)
{
    struct rh_key gate = {
        .kind = RH_KEY_GATE, .gate = (uint32_t)first, .fn = c->fn, .block_count = 1};
    gate.blocks = rh_arena_alloc(&c->out->arena, loop->block_count * sizeof *gate.blocks);
    gate.blocks[0] = loop->header;
    for (uint32_t b = 0; b < loop->block_count; b++)
        if (loop->blocks[b] != loop->header)
            gate.blocks[gate.block_count++] = loop->blocks[b];
    return gate;
}

/* Keys in a tight loop have a gate of their own before it, in the twin: so a run that is in the
 * twin for another key does not pay for them in each round. These gates come behind the function's.
 */
static void add_loop_gates(struct collector *c, size_t first)
{
    struct rh_sites *s = c->out;
    struct loop_list loops = RH_VEC_INIT;
    uint32_t *numbers = rh_calloc(c->cfg->loop_count + 1, sizeof *numbers);
    size_t first_site = s->keys.data[first + 1].first_site, count = s->keys.len - first - 1;
    find_tight_loops(c, first, &loops, numbers);
    for (size_t i = 0; i < loops.len; i++)
        rh_vec_push(&s->keys, (struct rh_key){0});
    struct rh_key *gates = &s->keys.data[first + 1], *keys = gates + loops.len;
    memmove(keys, gates, count * sizeof *keys);
    for (size_t i = 0; i < loops.len; i++)
        gates[i] = make_loop_gate(c, first, loops.data[i]);
    for (size_t k = 0; k < count; k++) {
        const struct rh_loop *loop = rh_cfg_loop_of(c->cfg, rh_key_block(s, &keys[k]));
        if (keys[k].gate == first && loop && numbers[loop->id])
            keys[k].gate = (uint32_t)first + numbers[loop->id];
    }
    for (size_t i = first_site; i < s->sites.len; i++)
        s->sites.data[i].key += (uint32_t)loops.len;
    free(numbers);
    rh_vec_free(&loops);
}

/* Gives the function whose keys begin at `first` a gate if it is to have a twin. */
static void plan_twin(struct collector *c, size_t first)
{
    struct rh_key gate = {.kind = RH_KEY_GATE, .gate = RH_NO_GATE, .fn = c->fn};
    RH_VEC(struct rh_block *) keyed = RH_VEC_INIT;
    for (size_t k = first; k < c->out->keys.len; k++) {
        const struct rh_key *key = &c->out->keys.data[k];
        if (needs_gate(c, key))
            rh_vec_push(&keyed, (struct rh_block *)(uintptr_t)rh_key_block(c->out, key));
    }
    gate.blocks = rh_arena_alloc(&c->out->arena, c->fn->block_count * sizeof *gate.blocks);
    gate.block_count = rh_gates_plan(c->cfg, keyed.data, keyed.len, c->checked, gate.blocks);
    if (gate.block_count) {
        add_gate(c, &gate, first);
        if (!c->checked)
            add_loop_gates(c, first);
    }
    rh_vec_free(&keyed);
}

/* --- loops --- */

/* The sites from this one on whose checks need not stand in their loop. */
static void plan_sweeps(struct collector *c, size_t first)
{
    struct rh_arena *arena = &c->out->arena;
    for (size_t i = first; i < c->out->sites.len; i++) {
        struct rh_site *site = &c->out->sites.data[i];
        const struct rh_loop *loop = rh_cfg_loop_of(c->cfg, site->inst->block);
        struct rh_sweep sweep;
        if (!loop || !rh_check_suits(site) || !rh_gates_is_closed(loop) ||
            !rh_sweep_find(c->cfg, site->inst, site->pointer, &sweep) ||
            !rh_check_can_sweep(site, sweep.stride))
            continue;
        site->sweep = rh_arena_alloc(arena, sizeof sweep);
        *site->sweep = sweep;
        site->sweep->blocks = rh_arena_array(arena, struct rh_block *, sweep.block_count);
        memcpy(site->sweep->blocks, sweep.blocks, sweep.block_count * sizeof *sweep.blocks);
    }
}

/* --- functions --- */

static void collect_function(struct collector *c, struct rh_function *fn)
{
    size_t first = c->out->keys.len, first_site = c->out->sites.len;
    c->fn = fn;
    c->cfg = rh_cfg_build(fn);
    for (uint32_t b = 0; b < fn->block_count; b++)
        if (rh_cfg_reachable(c->cfg, fn->blocks[b]))
            collect_block(c, fn->blocks[b]);
    plan_twin(c, first);
    if (c->checked)
        plan_sweeps(c, first_site);
    rh_cfg_free(c->cfg);
}

/* Gives equal fingerprints an ordinal; sites come in the order of the code, so it is stable. */
static void part_equal_fingerprints(struct rh_sites *s)
{
    struct rh_map seen = RH_MAP_INIT;
    rh_vec_each (struct rh_site, site, &s->sites) {
        uint64_t count = 0, key = site->fingerprint;
        rh_map_get(&seen, key, &count);
        rh_map_put(&seen, key, count + 1);
        if (!count)
            continue;
        struct rh_hash h;
        rh_hash_init(&h);
        rh_hash_add_u64(&h, key);
        rh_hash_add_u64(&h, count);
        site->fingerprint = rh_hash_finish(&h);
    }
    rh_map_release(&seen);
}

/* Sites that need no key: users still want to see them. */
static void add_unkeyed(struct collector *c)
{
    c->out->keyed = (uint32_t)c->out->sites.len;
    rh_vec_each (const struct rh_access, a, &c->accesses->all)
        if (!rh_access_is_site(a) && rh_access_may_be_shared(a))
            add_site(c, a, RH_NO_KEY, 0);
    rh_vec_each (const struct rh_access *, a, &c->superfluous)
        add_site(c, *a, RH_NO_KEY, 0);
}

static bool has_keys(const struct collector *c, const struct rh_function *fn)
{
    const struct rh_accesses *a = c->accesses;
    if (c->stores && rh_stores_has(c->stores, fn))
        return true;
    for (uint32_t i = a->first_of[fn->id]; i < a->first_of[fn->id + 1]; i++)
        if (rh_access_is_site(&a->all.data[i]))
            return true;
    return false;
}

void rh_sites_collect(const struct rh_accesses *accesses, const struct rh_stores *stores,
                      bool checked, struct rh_sites *out)
{
    memset(out, 0, sizeof *out);
    rh_arena_init(&out->arena);
    struct rh_module *m = accesses->module;
    struct collector c = {.accesses = accesses,
                          .stores = stores,
                          .out = out,
                          .expr = rh_expr_index(m),
                          .checked = checked};
    for (uint32_t f = 0; f < rh_ir_function_count(m); f++)
        if (has_keys(&c, rh_ir_function(m, f)))
            collect_function(&c, rh_ir_function(m, f));
    add_unkeyed(&c);
    part_equal_fingerprints(out);
    rh_expr_free(c.expr);
    rh_vec_each (struct group, g, &c.open)
        rh_vec_free(&g->members);
    rh_vec_free(&c.open);
    rh_vec_free(&c.superfluous);
}

void rh_sites_release(struct rh_sites *s)
{
    rh_vec_free(&s->sites);
    rh_vec_free(&s->keys);
    rh_arena_release(&s->arena);
}
