/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug locations of the snapshot: each DILocation becomes one rh_loc, and what locations of one
 * scope have in common (file, function) is worked out once per scope.
 *
 * A location without a line gets the line of the function that it lies in, marked as near; lines.c
 * then looks for a better one for the instructions that people are shown.
 */
#include "ir/read/snapshot.h"

#include <stdlib.h>

#include "base/fs.h"
#include "ir/debug/di.h"
#include "ir/read/ignored.h"

struct scope {
    const struct scope *whole; /* that of the function; itself if it is one */
    const char *file;
    uint32_t line; /* of functions, where they are defined; 0 if unknown */
    const char *function;
    const char *linkage;
    bool is_ignored; /* the function asks not to be instrumented */
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
        scope->whole = read_scope(s, subprogram);
        scope->function = scope->whole->function;
        scope->linkage = scope->whole->linkage;
        scope->is_ignored = scope->whole->is_ignored;
        return scope;
    }
    scope->whole = scope;
    scope->line = subprogram ? LLVMDISubprogramGetLine(subprogram) : 0;
    scope->function = read_text(s, subprogram, RH_DI_NAME);
    scope->linkage = read_text(s, subprogram, RH_DI_LINKAGE);
    if (!*scope->linkage)
        scope->linkage = scope->function;
    scope->is_ignored = rh_ignored_has(s, subprogram);
    return scope;
}

static void place_near(struct rh_loc *loc, const char *file, uint32_t line)
{
    if (line == 0)
        return;
    loc->file = file;
    loc->line = line;
    loc->is_near = true;
}

static struct rh_loc *make_loc(struct rh_snapshot *s, LLVMMetadataRef scope_node, uint32_t line,
                               uint32_t column)
{
    struct scope *scope = read_scope(s, scope_node);
    struct rh_loc *loc = rh_arena_new(&s->m->arena, struct rh_loc);

    loc->file = scope->file;
    loc->function = scope->function;
    loc->linkage = scope->linkage;
    loc->is_ignored = scope->is_ignored;
    loc->line = line;
    loc->column = column;
    if (line == 0)
        place_near(loc, scope->whole->file, scope->whole->line);
    return loc;
}

const struct rh_loc *rh_snapshot_loc(struct rh_snapshot *s, LLVMMetadataRef location)
{
    const struct rh_loc *first = NULL, **link = &first;
    const struct rh_loc *inlined = NULL;

    while (location) {
        struct rh_loc *loc = rh_map_get_ptr(&s->loc_of, rh_map_key(location));

        if (loc) {
            *link = loc;
            break;
        }
        loc = make_loc(s, LLVMDILocationGetScope(location), LLVMDILocationGetLine(location),
                       LLVMDILocationGetColumn(location));
        /* A function that the compiler made to call initialisers has no line but theirs. */
        if (loc->line == 0 && inlined)
            place_near(loc, inlined->file, inlined->line);
        inlined = loc;
        rh_map_put_ptr(&s->loc_of, rh_map_key(location), loc);
        *link = loc;
        link = &loc->inlined_at;
        location = LLVMDILocationGetInlinedAt(location);
    }
    return first;
}

const struct rh_loc *rh_snapshot_function_loc(struct rh_snapshot *s, LLVMMetadataRef subprogram)
{
    return subprogram ? make_loc(s, subprogram, LLVMDISubprogramGetLine(subprogram), 0) : NULL;
}

const struct rh_loc *rh_snapshot_variable_loc(struct rh_snapshot *s, const struct rh_value *global,
                                              const struct rh_function *f)
{
    LLVMMetadataRef variable = rh_di_global_variable(s->m->context, global->handle);
    uint32_t line = variable ? LLVMDIVariableGetLine(variable) : 0;
    struct rh_loc *loc;

    if (line == 0)
        return NULL;
    loc = rh_arena_new(&s->m->arena, struct rh_loc);
    loc->file = read_path(s, LLVMDIVariableGetFile(variable));
    loc->line = line;
    loc->function = f->loc ? f->loc->function : f->name;
    loc->linkage = f->loc ? f->loc->linkage : f->name;
    loc->is_near = true;
    return loc;
}
