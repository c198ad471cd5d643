/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines for the code that has none of its own.
 *
 * Where the optimiser makes one instruction of several, or moves one, it leaves it without a line,
 * or without a location at all. A report needs one, so each access and call gets the nearest line
 * that the debug information allows, marked as near. In this order:
 *
 *  1. the line of what uses the value, through instructions that have no line either: a read of a
 *     bit-field belongs to the store that puts the new bits in
 *  2. the line of the code before it in its block, or else behind it
 *  3. the line of the code that runs before it in any case: that of the dominating blocks
 *  4. the line of the code that may follow
 *  5. the line of the function, which locs.c has filled in
 *  6. in functions that the compiler made, which have no line: the line of the variable accessed,
 *     or of the first that the function accesses
 *
 * A location without a line still says which function it is of, inlined or not; only lines of that
 * function are taken. Of an instruction without a location only the function that holds it is
 * known: steps 2 to 4 then take the outermost line of what they find, which lies in that function.
 * If the function is of a header of the system (std::thread's, which calls the program's lambda), a
 * line of the program's own source says more: those are looked for first, and the outermost of them
 * is taken.
 */
#include "ir/graph/cfg.h"
#include "ir/read/snapshot.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/path.h"

struct search {
    struct rh_snapshot *s;
    struct rh_function *fn;
    struct rh_cfg *cfg; /* NULL until it is needed */
    const struct rh_loc
        *default_loc; /* where the function is, near; NULL until needed, or unknown */
    bool has_default;
    bool wants_own; /* only lines of the program's own source will do */
};

/* The outermost location that is not in a header of the system; NULL if all are. */
static const struct rh_loc *find_own(const struct rh_loc *loc)
{
    const struct rh_loc *own = NULL;

    for (; loc; loc = loc->inlined_at)
        if (loc->line && !rh_path_is_system(loc->file))
            own = loc;
    return own;
}

static bool is_same_function(const struct rh_loc *a, const struct rh_loc *b)
{
    return a->linkage == b->linkage && a->inlined_at == b->inlined_at;
}

static bool has_line(const struct rh_value *v)
{
    return v->kind == RH_VALUE_INST && v->loc && v->loc->line && !v->loc->is_near;
}

/* Has the instruction a line that `inst` may borrow? */
static bool lends_line(const struct search *search, const struct rh_value *v,
                       const struct rh_value *inst)
{
    return has_line(v) && (!inst->loc || is_same_function(v->loc, inst->loc)) &&
           (!search->wants_own || find_own(v->loc));
}

/* --- what uses the value --- */

/* Values whose users are looked at; more than this, and the line would not be near. */
#define MAX_USED 64

/* Of the users of all[from..to) the first in the order of the code that lends its line; the users
 * without a line are appended to the list. */
static const struct rh_value *find_user_among(const struct search *search,
                                              const struct rh_value *inst,
                                              const struct rh_value **all, size_t from, size_t to,
                                              size_t *count)
{
    const struct rh_value *first = NULL;

    for (size_t i = from; i < to; i++) {
        for (uint32_t u = 0; u < all[i]->user_count; u++) {
            const struct rh_value *user = all[i]->users[u];

            if (lends_line(search, user, inst) && (!first || user->id < first->id))
                first = user;
            if (user->kind == RH_VALUE_INST && !has_line(user) && *count < MAX_USED)
                all[(*count)++] = user;
        }
    }
    return first;
}

static const struct rh_value *find_user(const struct search *search, const struct rh_value *inst)
{
    const struct rh_value *all[MAX_USED] = {inst}, *found = NULL;
    size_t from = 0, count = 1;

    while (from < count && !found) {
        size_t to = count;

        found = find_user_among(search, inst, all, from, to, &count);
        from = to;
    }
    return found;
}

/* --- the code around it --- */

/* The last before `inst` that lends its line, or else the first behind it. */
static const struct rh_value *find_neighbour(const struct search *search,
                                             const struct rh_value *inst)
{
    const struct rh_value *last = NULL;

    for (const struct rh_value *v = inst->block->first; v; v = v->next) {
        if (lends_line(search, v, inst))
            last = v;
        if (last && v->id >= inst->id)
            break;
    }
    return last;
}

static const struct rh_value *find_in_dominators(struct search *search, const struct rh_value *inst)
{
    const struct rh_value *last = NULL;
    const struct rh_block *block = inst->block;

    if (!search->cfg)
        search->cfg = rh_cfg_build(search->fn);
    if (!rh_cfg_reachable(search->cfg, block))
        return NULL;
    while (!last && (block = rh_cfg_idom(search->cfg, block)))
        for (const struct rh_value *v = block->first; v; v = v->next)
            if (lends_line(search, v, inst))
                last = v;
    return last;
}

static const struct rh_value *find_in_block(const struct search *search,
                                            const struct rh_block *block,
                                            const struct rh_value *inst)
{
    const struct rh_value *v = block->first;

    while (v && !lends_line(search, v, inst))
        v = v->next;
    return v;
}

/* The first that lends its line in the blocks behind, the nearest first. */
static const struct rh_value *find_following(struct search *search, const struct rh_value *inst)
{
    const struct rh_value *found = NULL;
    uint32_t count = 0;
    bool *seen = rh_calloc(search->fn->block_count, sizeof *seen);
    const struct rh_block **queue = rh_alloc_array(search->fn->block_count + 1, sizeof(*queue));

    queue[count++] = inst->block;
    seen[inst->block->id] = true;
    for (uint32_t at = 0; at < count && !found; at++) {
        for (uint32_t i = 0; i < queue[at]->succ_count && !found; i++) {
            const struct rh_block *next = queue[at]->succs[i];

            if (seen[next->id])
                continue;
            seen[next->id] = true;
            queue[count++] = next;
            found = find_in_block(search, next, inst);
        }
    }
    free(queue);
    free(seen);
    return found;
}

/* --- the function --- */

static const struct rh_loc *mark_near(struct rh_snapshot *s, const struct rh_loc *loc)
{
    struct rh_loc *near;

    if (loc->is_near)
        return loc;
    near = rh_map_get_ptr(&s->near_of, rh_map_key(loc));
    if (!near) {
        near = rh_arena_new(&s->m->arena, struct rh_loc);
        *near = *loc;
        near->is_near = true;
        rh_map_put_ptr(&s->near_of, rh_map_key(loc), near);
    }
    return near;
}

/* Where the variable is defined that the access goes to; NULL if it goes to none. */
static const struct rh_loc *find_variable(struct search *search, const struct rh_value *inst)
{
    struct rh_value *pointer = rh_ir_pointer(inst), *base;

    base = pointer ? rh_ir_base(pointer, NULL, NULL) : NULL;
    return base && base->kind == RH_VALUE_GLOBAL
               ? rh_snapshot_variable_loc(search->s, base, search->fn)
               : NULL;
}

static const struct rh_loc *find_first_variable(struct search *search)
{
    const struct rh_loc *found = NULL;

    for (uint32_t i = 0; i < search->fn->block_count && !found; i++)
        for (const struct rh_value *v = search->fn->blocks[i]->first; v && !found; v = v->next)
            found = find_variable(search, v);
    return found;
}

static const struct rh_loc *find_function(struct search *search, const struct rh_value *inst)
{
    const struct rh_loc *variable;

    if (search->fn->loc && search->fn->loc->line)
        return mark_near(search->s, search->fn->loc);
    variable = find_variable(search, inst);
    if (variable)
        return variable;
    if (!search->has_default) {
        search->default_loc = find_first_variable(search);
        search->has_default = true;
    }
    return search->default_loc;
}

/* --- all of it --- */

static bool touches_memory(const struct rh_value *inst)
{
    return inst->op == RH_OP_CALL || inst->op == RH_OP_INVOKE || inst->op == RH_OP_CALLBR ||
           inst->op == RH_OP_FENCE || rh_ir_pointer(inst);
}

/* The code around it: before it, in the blocks above, in those that may follow. */
static const struct rh_value *find_around(struct search *search, const struct rh_value *inst)
{
    const struct rh_value *other = find_neighbour(search, inst);

    if (!other)
        other = find_in_dominators(search, inst);
    if (!other)
        other = find_following(search, inst);
    return other;
}

/* The line of the program's own source for code of which only a function of the system is known. */
static const struct rh_loc *find_own_line(struct search *search, const struct rh_value *inst)
{
    const struct rh_value *other;

    if (inst->loc || !rh_path_is_system(search->fn->loc->file))
        return NULL;
    search->wants_own = true;
    other = find_user(search, inst);
    if (!other)
        other = find_around(search, inst);
    search->wants_own = false;
    return other ? find_own(other->loc) : NULL;
}

static const struct rh_loc *find_line(struct search *search, const struct rh_value *inst)
{
    const struct rh_value *other;
    const struct rh_loc *loc;

    if (!search->fn->loc)
        return find_function(search, inst); /* nothing in it has a location */
    loc = find_own_line(search, inst);
    if (loc)
        return mark_near(search->s, loc);
    other = find_user(search, inst);
    if (other)
        return mark_near(search->s, other->loc);
    other = find_around(search, inst);
    if (!other)
        return inst->loc && inst->loc->line ? inst->loc : find_function(search, inst);
    loc = other->loc;
    while (!inst->loc && loc->inlined_at)
        loc = loc->inlined_at;
    return mark_near(search->s, loc);
}

void rh_snapshot_find_lines(struct rh_snapshot *s, struct rh_function *f)
{
    struct search search = {.s = s, .fn = f};

    for (uint32_t i = 0; i < f->block_count; i++) {
        for (struct rh_value *inst = f->blocks[i]->first; inst; inst = inst->next) {
            const struct rh_loc *loc;

            if (has_line(inst) || !touches_memory(inst))
                continue;
            loc = find_line(&search, inst);
            if (loc)
                inst->loc = loc;
        }
    }
    if (search.cfg)
        rh_cfg_free(search.cfg);
}
