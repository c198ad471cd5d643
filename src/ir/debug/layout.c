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
    struct rh_module *module;
    struct rh_ditypes types;
    struct rh_varlocs *variables;
    struct rh_arena arena;
    uint32_t next_id;   /* of types: behind those of the module */
    struct rh_map done; /* struct rh_ditype -> struct rh_type */
};

struct rh_layouts *rh_layouts_read(struct rh_module *m)
{
    struct rh_layouts *l = rh_calloc(1, sizeof *l);
    l->module = m;
    l->next_id = m->type_count;
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

/* Under what name records of several units are one; "" if they cannot be named. */
static const char *key_of(const struct rh_ditype *di)
{
    return *di->mangled ? di->mangled : di->name;
}

static void convert_record(struct rh_layouts *l, struct rh_ditype *di, struct rh_type *out)
{
    rh_ditype_read_members(&l->types, di);
    out->kind = RH_TYPE_STRUCT;
    out->name = rh_arena_printf(&l->arena, "%s.%s", di->is_union ? "union" : "struct", key_of(di));
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
    out->id = l->next_id++;
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

/* --- what it is declared to --- */

/* The record that stands for all of its name and size; NULL if the size is not known, because it is
 * only declared, and those of the name differ. */
static struct rh_ditype *find_record(struct rh_layouts *l, const char *key, uint64_t size)
{
    struct rh_ditype *found = NULL;
    struct rh_ditype *first = *key ? rh_ditype_find(&l->types, key) : NULL;
    for (struct rh_ditype *other = first; other; other = other->next) {
        if (other->is_union || (size && other->size != size))
            continue;
        if (found && found->size != other->size)
            return NULL;
        found = found ? found : other;
    }
    return found;
}

struct declared {
    struct rh_ditype *record;
    bool disagrees;    /* it is declared to point to several records */
    bool says_nothing; /* and somewhere to anything */
    bool at_once;      /* the record is named where the value is made */
};

static void add_declared(struct rh_layouts *l, struct rh_ditype *pointer, bool at_once,
                         struct declared *out)
{
    bool is_pointer = pointer && pointer->kind == RH_DITYPE_POINTER;
    struct rh_ditype *target = is_pointer ? rh_ditype_target(&l->types, pointer) : NULL;
    bool is_named = target && *key_of(target) &&
                    (target->kind == RH_DITYPE_RECORD || target->kind == RH_DITYPE_OPAQUE);
    struct rh_ditype *record = is_named ? find_record(l, key_of(target), target->size) : NULL;
    if (!record || record->size <= 1) {
        out->says_nothing = true;
        return;
    }
    out->disagrees |= out->record && out->record != record;
    out->record = record;
    out->at_once |= at_once;
}

/* The type of the member at the offset; NULL if that is no member, or one of several. */
static struct rh_ditype *member_at(struct rh_layouts *l, struct rh_ditype *type, uint64_t offset)
{
    enum { DEEPEST = 16 };
    for (int depth = 0; type && depth < DEEPEST; depth++) {
        struct rh_ditype *inner = NULL;
        if (type->kind == RH_DITYPE_ARRAY) {
            inner = rh_ditype_target(&l->types, type);
            offset = inner && inner->size ? offset % inner->size : offset;
        } else if (type->kind == RH_DITYPE_RECORD && !type->is_union) {
            rh_ditype_read_members(&l->types, type);
            uint64_t begin = 0;
            for (uint32_t i = 0; i < type->member_count; i++) {
                const struct rh_dimember *m = &type->members[i];
                if (!m->type || m->bit_offset / 8 > offset ||
                    offset >= m->bit_offset / 8 + m->type->size)
                    continue;
                inner = m->type;
                begin = m->bit_offset / 8;
            }
            offset -= begin;
        } else {
            return offset ? NULL : type;
        }
        type = inner;
    }
    return NULL;
}

static struct declared declared_by_variables(struct rh_layouts *l, const struct rh_value *pointer)
{
    struct declared found = {0};
    uint32_t made_in = pointer->kind == RH_VALUE_INST ? pointer->block->id : 0;
    for (uint32_t d = rh_varlocs_of(l->variables, pointer); d != RH_VARDEF_NONE;) {
        const struct rh_vardef *def = rh_varlocs_def(l->variables, d);
        const struct rh_variable *v = rh_varlocs_variable(l->variables, def->variable);
        if (def->kind == RH_VARDEF_VALUE && !def->plus && !v->is_part)
            add_declared(l, v->type, def->block == made_in, &found);
        d = def->of_value;
    }
    return found;
}

static struct rh_ditype *record_of(const struct declared *d)
{
    return !d->disagrees && (!d->says_nothing || d->at_once) ? d->record : NULL;
}

/* What is loaded or stored is declared where it lies: in the struct that the type tag names, or, if
 * that has no name, in the one that the variable at the beginning of the way points to. */
static void add_member(struct rh_layouts *l, const struct rh_value *access, struct declared *out)
{
    uint64_t offset = 0;
    const char *name = rh_ir_tag_struct(l->module, access->tag, &offset);
    struct rh_ditype *record = *name ? find_record(l, name, 0) : NULL;
    if (!*name) {
        int64_t distance;
        bool exact;
        const struct rh_value *base = rh_ir_base(rh_ir_pointer(access), &distance, &exact);
        struct declared of_base = declared_by_variables(l, base);
        record = exact && distance >= 0 ? record_of(&of_base) : NULL;
        offset = (uint64_t)distance;
    }
    struct rh_ditype *type = record ? member_at(l, record, offset) : NULL;
    if (type && type->kind == RH_DITYPE_POINTER)
        add_declared(l, type, true, out);
}

/* What a call gives back, and no variable holds, is declared where it is put. */
static void add_stored(struct rh_layouts *l, const struct rh_value *v, struct declared *out)
{
    bool is_call = v->kind == RH_VALUE_INST && (v->op == RH_OP_CALL || v->op == RH_OP_INVOKE);
    for (uint32_t i = 0; is_call && i < v->user_count; i++) {
        const struct rh_value *user = v->users[i];
        if (user->kind == RH_VALUE_INST && user->op == RH_OP_STORE && user->ops[0] == v)
            add_member(l, user, out);
    }
}

const struct rh_type *rh_layout_declared(struct rh_layouts *l, const struct rh_value *pointer)
{
    struct declared found = declared_by_variables(l, pointer);
    if (pointer->kind == RH_VALUE_INST && pointer->op == RH_OP_LOAD)
        add_member(l, pointer, &found);
    if (!found.record && !found.says_nothing)
        add_stored(l, pointer, &found);
    return record_of(&found) ? convert(l, found.record) : NULL;
}
