/*
 * Debug locations of the snapshot: each DILocation becomes one rh_loc, and what locations of one
 * scope have in common (file, function) is worked out once per scope.
 */
#include "ir/snapshot.h"

#include <stdlib.h>

#include "base/fs.h"
#include "ir/di.h"

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
