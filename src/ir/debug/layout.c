/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the types of variables and turns them into trees of offsets: see layout.h. */
#include "ir/debug/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "ir/debug/ditype.h"
#include "ir/debug/varloc.h"
#include "ir/module.h"

struct rh_layouts {
    struct rh_ditypes types;
    struct rh_varlocs *variables;
    struct rh_arena arena;
    struct rh_map done; /* struct rh_ditype -> struct rh_type */
};

struct rh_layouts *rh_layouts_read(struct rh_module *m)
{
    struct rh_layouts *l = rh_calloc(1, sizeof *l);
    rh_ditypes_init(&l->types, LLVMGetModuleContext(m->llvm));
    l->variables = rh_varlocs_read(m, &l->types);
    return l;
}

void rh_layouts_free(struct rh_layouts *l)
{
    if (!l)
        return;
    rh_varlocs_free(l->variables);
    rh_ditypes_release(&l->types);
    rh_map_release(&l->done);
    rh_arena_release(&l->arena);
    free(l);
}

/* --- from debug information to offsets --- */

static struct rh_type *convert(struct rh_layouts *l, struct rh_ditype *di);

static void convert_record(struct rh_layouts *l, struct rh_ditype *di, struct rh_type *out)
{
    rh_ditype_read_members(&l->types, di);
    out->kind = RH_TYPE_STRUCT;
    out->name = di->is_union ? "union." : "struct.";
    if (di->is_union)
        return;
    out->elems = rh_arena_array(&l->arena, struct rh_type *, di->member_count);
    out->offsets = rh_arena_array(&l->arena, uint64_t, di->member_count);
    for (uint32_t i = 0; i < di->member_count; i++) {
        const struct rh_dimember *m = &di->members[i];
        struct rh_type *type = m->type && !m->is_bitfield ? convert(l, m->type) : NULL;
        if (!type)
            continue;
        /* The first word leads to the table, or a base class has one. */
        out->is_polymorphic |=
            strcmp(m->name, "_vptr") == 0 || (!m->name[0] && type->is_polymorphic);
        out->elems[out->count] = type;
        out->offsets[out->count++] = m->bit_offset / 8;
    }
}

static void convert_array(struct rh_layouts *l, struct rh_ditype *di, struct rh_type *out)
{
    struct rh_ditype *target = rh_ditype_target(&l->types, di);
    out->elems = rh_arena_array(&l->arena, struct rh_type *, 1);
    out->elems[0] = target ? convert(l, target) : NULL;
    if (!out->elems[0] || !out->elems[0]->alloc_size)
        return;
    out->kind = RH_TYPE_ARRAY;
    out->count = di->size / out->elems[0]->alloc_size;
}

static struct rh_type *convert(struct rh_layouts *l, struct rh_ditype *di)
{
    struct rh_type *out = rh_map_get_ptr(&l->done, rh_map_key(di));
    if (out)
        return out;
    out = rh_arena_new(&l->arena, struct rh_type);
    rh_map_put_ptr(&l->done, rh_map_key(di), out);
    bool is_pointer = di->kind == RH_DITYPE_POINTER || di->kind == RH_DITYPE_REFERENCE;
    out->kind = RH_TYPE_OTHER;
    if (is_pointer)
        out->kind = RH_TYPE_PTR;
    else if (di->kind == RH_DITYPE_SCALAR)
        out->kind = di->is_float ? RH_TYPE_FLOAT : RH_TYPE_INT;
    out->size = out->alloc_size = di->size;
    if (di->kind == RH_DITYPE_RECORD)
        convert_record(l, di, out);
    else if (di->kind == RH_DITYPE_ARRAY)
        convert_array(l, di, out);
    return out;
}

/* --- what a pointer points to --- */

static struct rh_ditype *pointee(struct rh_layouts *l, const struct rh_vardef *def)
{
    const struct rh_variable *v = rh_varlocs_variable(l->variables, def->variable);
    if (def->kind != RH_VARDEF_VALUE || def->plus || v->is_part || !v->type ||
        v->type->kind != RH_DITYPE_POINTER)
        return NULL;
    struct rh_ditype *target = rh_ditype_target(&l->types, v->type);
    bool says_something = target && target->size > 1 && target->kind != RH_DITYPE_OPAQUE;
    return says_something ? target : NULL;
}

const struct rh_type *rh_layout_behind(struct rh_layouts *l, const struct rh_value *pointer)
{
    struct rh_ditype *found = NULL;
    for (uint32_t d = rh_varlocs_of(l->variables, pointer); d != RH_VARDEF_NONE;) {
        const struct rh_vardef *def = rh_varlocs_def(l->variables, d);
        struct rh_ditype *target = pointee(l, def);
        if (target && found && target->size != found->size)
            return NULL;
        found = target ? target : found;
        d = def->of_value;
    }
    return found ? convert(l, found) : NULL;
}
