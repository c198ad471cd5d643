/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug locations of the snapshot: each DILocation becomes one rh_loc, and what locations of one
 * scope have in common (file, function) is worked out once per scope.
 *
 * Where the optimiser made one instruction of several, it leaves it without a line. People are
 * better served with the line of what uses the value, or else with that of the code beside it.
 */
#include "ir/read/snapshot.h"

#include <stdlib.h>

#include "base/fs.h"
#include "ir/debug/di.h"

struct scope {
    const char *file;
    const char *function;
    const char *linkage;
};

static const char *read_path(struct rh_snapshot *s, LLVMMetadataRef file)
{
    struct rh_arena *arena = &s->m->arena;
    char *known, *dir, *name, *path;
    unsigned dir_len, name_len;
    const char *text;

    if (!file)
        return "";
    known = rh_map_get_ptr(&s->file_of, rh_map_key(file));
    if (known)
        return known;
    /* LLVM's strings have a length and need not end in NUL. */
    text = LLVMDIFileGetDirectory(file, &dir_len);
    dir = rh_arena_strndup(arena, text ? text : "", dir_len);
    text = LLVMDIFileGetFilename(file, &name_len);
    name = rh_arena_strndup(arena, text ? text : "", name_len);
    /* So that a file included as "./a.h" and as "a.h" has one name. */
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    path = rh_path_join(dir, name);
    known = rh_arena_strdup(arena, path);
    free(path);
    rh_map_put_ptr(&s->file_of, rh_map_key(file), known);
    return known;
}

static const char *read_text(struct rh_snapshot *s, LLVMMetadataRef node, enum rh_di_field field)
{
    size_t len;
    const char *text = rh_di_text(s->m->context, node, field, &len);

    return rh_arena_strndup(&s->m->arena, text, len);
}

static struct scope *read_scope(struct rh_snapshot *s, LLVMMetadataRef node)
{
    struct scope *scope = rh_map_get_ptr(&s->scope_of, rh_map_key(node));
    LLVMMetadataRef subprogram;

    if (scope)
        return scope;
    scope = rh_arena_new(&s->m->arena, struct scope);
    rh_map_put_ptr(&s->scope_of, rh_map_key(node), scope);
    scope->file = read_path(s, node ? LLVMDIScopeGetFile(node) : NULL);
    subprogram = rh_di_subprogram(s->m->context, node);
    if (subprogram && subprogram != node) {
        struct scope *whole = read_scope(s, subprogram);

        scope->function = whole->function;
        scope->linkage = whole->linkage;
        return scope;
    }
    scope->function = read_text(s, subprogram, RH_DI_NAME);
    scope->linkage = read_text(s, subprogram, RH_DI_LINKAGE);
    if (!*scope->linkage)
        scope->linkage = scope->function;
    return scope;
}

static struct rh_loc *make_loc(struct rh_snapshot *s, LLVMMetadataRef scope_node, uint32_t line,
                               uint32_t column)
{
    struct scope *scope = read_scope(s, scope_node);
    struct rh_loc *loc = rh_arena_new(&s->m->arena, struct rh_loc);

    loc->file = scope->file;
    loc->function = scope->function;
    loc->linkage = scope->linkage;
    loc->line = line;
    loc->column = column;
    return loc;
}

const struct rh_loc *rh_snapshot_loc(struct rh_snapshot *s, LLVMMetadataRef location)
{
    const struct rh_loc *first = NULL, **link = &first;

    while (location) {
        struct rh_loc *loc = rh_map_get_ptr(&s->loc_of, rh_map_key(location));

        if (loc) {
            *link = loc;
            break;
        }
        loc = make_loc(s, LLVMDILocationGetScope(location), LLVMDILocationGetLine(location),
                       LLVMDILocationGetColumn(location));
        rh_map_put_ptr(&s->loc_of, rh_map_key(location), loc);
        *link = loc;
        link = &loc->inlined_at;
        location = LLVMDILocationGetInlinedAt(location);
    }
    return first;
}

const struct rh_loc *rh_snapshot_function_loc(struct rh_snapshot *s, LLVMMetadataRef subprogram)
{
    if (!subprogram)
        return NULL;
    return make_loc(s, subprogram, LLVMDISubprogramGetLine(subprogram), 0);
}

/* --- lines that the optimiser took away --- */

static bool is_same_function(const struct rh_loc *a, const struct rh_loc *b)
{
    return a->linkage == b->linkage && a->inlined_at == b->inlined_at;
}

static bool has_line_in(const struct rh_value *v, const struct rh_loc *loc)
{
    return v->kind == RH_VALUE_INST && v->loc && v->loc->line && is_same_function(v->loc, loc);
}

/* The first in the order of the code that uses the value, in the same function and with a line. */
static const struct rh_value *find_first_user(const struct rh_value *inst)
{
    const struct rh_value *first = NULL;

    for (uint32_t i = 0; i < inst->user_count; i++) {
        const struct rh_value *user = inst->users[i];

        if (has_line_in(user, inst->loc) && (!first || user->id < first->id))
            first = user;
    }
    return first;
}

static const struct rh_value *find_neighbour(const struct rh_value *inst)
{
    const struct rh_value *last = NULL;

    for (const struct rh_value *v = inst->block->first; v; v = v->next) {
        if (has_line_in(v, inst->loc))
            last = v;
        if (last && v->id >= inst->id)
            break;
    }
    return last;
}

static bool touches_memory(const struct rh_value *inst)
{
    return inst->op == RH_OP_CALL || inst->op == RH_OP_INVOKE || rh_ir_pointer(inst);
}

void rh_snapshot_find_lines(struct rh_function *f)
{
    struct found {
        struct rh_value *inst;
        const struct rh_loc *loc;
    };
    RH_VEC(struct found) all = RH_VEC_INIT;

    for (uint32_t i = 0; i < f->block_count; i++) {
        for (struct rh_value *inst = f->blocks[i]->first; inst; inst = inst->next) {
            const struct rh_value *other;

            if (!inst->loc || inst->loc->line || !touches_memory(inst))
                continue;
            other = find_first_user(inst);
            if (!other)
                other = find_neighbour(inst);
            if (other)
                rh_vec_push(&all, (struct found){inst, other->loc});
        }
    }
    /* Only now, so that none is taken for a line that the compiler gave. */
    rh_vec_each (const struct found, it, &all)
        it->inst->loc = it->loc;
    rh_vec_free(&all);
}
