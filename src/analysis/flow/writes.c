/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is written where, for the flow analysis: every store, intrinsic and library function that
 * writes, and an index of them by object.
 *
 * Many writes share one set of cells, so the index leads from objects to sets and from there to the
 * writes.
 */
#include "analysis/flow/internal.h"

#include <string.h>

#include "base/mem.h"

/* --- collecting writes --- */

struct collector {
    struct rh_flow *f;
    uint32_t instance;
    struct rh_value *inst;
};

static void add_write(struct collector *c, struct rh_value *pointer, const struct rh_idset *cells,
                      uint64_t size, enum flow_write_kind kind)
{
    struct flow_write w = {
        .instance = c->instance,
        .inst = c->inst,
        .pointer = pointer,
        .cells = cells,
        .size = size,
        .kind = kind,
    };
    if (!rh_idset_is_empty(cells))
        rh_vec_push(&c->f->writes, w);
}

static void add_direct(struct collector *c, uint32_t arg, uint64_t size, enum flow_write_kind kind)
{
    struct rh_value *pointer = arg < c->inst->op_count ? c->inst->ops[arg] : NULL;
    if (pointer && pointer->type->kind != RH_TYPE_INT)
        add_write(c, pointer, rh_pointsto_of(c->f->pointsto, c->instance, pointer), size, kind);
}

/* The objects that pointers in an object may point to. */
static const struct rh_idset *contents_of(struct rh_flow *f, uint32_t object)
{
    struct rh_idset *known = rh_map_get_ptr(&f->contents, object), cells = RH_IDSET_INIT;
    uint32_t cell;
    if (known)
        return known;
    known = rh_calloc(1, sizeof *known);
    rh_vec_push(&f->own_sets, known);
    rh_map_put_ptr(&f->contents, object, known);
    rh_pointsto_contents(f->pointsto, object, &cells);
    for (uint64_t at = 0; rh_idset_next(&cells, &at, &cell);)
        rh_idset_add(known, rh_pointsto_cell(f->pointsto, cell)->object);
    rh_idset_release(&cells);
    return known;
}

/* May write the objects that pointers in the memory behind the argument point to, `levels` times
 * over; which part of them is not known. */
static void add_indirect(struct collector *c, uint32_t arg, uint32_t levels)
{
    struct rh_idset *objects = rh_calloc(1, sizeof *objects);
    uint32_t id;
    rh_vec_push(&c->f->own_sets, objects);
    if (arg >= c->inst->op_count)
        return;
    const struct rh_idset *cells = rh_pointsto_of(c->f->pointsto, c->instance, c->inst->ops[arg]);
    for (uint64_t at = 0; rh_idset_next(cells, &at, &id);)
        rh_idset_add(objects, rh_pointsto_cell(c->f->pointsto, id)->object);
    for (uint32_t i = 0; i < levels; i++) {
        struct rh_idset next = RH_IDSET_INIT;
        for (uint64_t at = 0; rh_idset_next(objects, &at, &id);)
            rh_idset_unite(&next, contents_of(c->f, id));
        rh_idset_swap(objects, &next);
        rh_idset_release(&next);
    }
    struct flow_write w = {.instance = c->instance, .inst = c->inst, .objects = objects};
    if (!rh_idset_is_empty(objects))
        rh_vec_push(&c->f->writes, w);
}

static bool is_zero(const struct rh_value *v)
{
    return v->kind == RH_VALUE_NULL || (v->kind == RH_VALUE_INT && v->num == 0);
}

/* Intrinsics that write: which operand, and whether of a zero as the next operand. */
static void read_intrinsic(struct collector *c)
{
    static const char *const harmless[] = {"llvm.lifetime.", "llvm.dbg.",       "llvm.assume",
                                           "llvm.prefetch",  "llvm.objectsize", "llvm.invariant.",
                                           "llvm.va_end",    "llvm.masked.load"};
    const char *name = c->inst->intrinsic;
    if (strncmp(name, "llvm.memset", 11) == 0) {
        const struct rh_value *length = c->inst->ops[2];
        uint64_t size = length->kind == RH_VALUE_INT ? (uint64_t)length->num : 0;
        add_direct(c, 0, size, is_zero(c->inst->ops[1]) ? WRITE_ZERO : WRITE_ANY);
        return;
    }
    if (strncmp(name, "llvm.memcpy", 11) == 0 || strncmp(name, "llvm.memmove", 12) == 0) {
        const struct rh_value *length = c->inst->ops[2];
        add_direct(c, 0, length->kind == RH_VALUE_INT ? (uint64_t)length->num : 0, WRITE_ANY);
        return;
    }
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        if (strncmp(name, harmless[i], strlen(harmless[i])) == 0)
            return;
    for (uint32_t i = 0; i < c->inst->op_count && !c->inst->no_memory; i++)
        add_direct(c, i, 0, WRITE_ANY);
}

/* What starting, joining and detaching threads do to handles is a matter of its own: they get a
 * handle, or lose it. */
static bool is_handle_write(const struct rh_library_row *row, const struct rh_effect *write,
                            enum flow_write_kind *kind)
{
    for (uint32_t i = 0; i < row->effect_count; i++) {
        const struct rh_effect *e = &row->effects[i];
        bool starts = e->kind == RH_EFFECT_THREAD || e->kind == RH_EFFECT_VIRTUAL_THREAD;
        bool ends = (e->kind == RH_EFFECT_JOIN || e->kind == RH_EFFECT_DETACH) && e->indirect == 1;
        *kind = starts ? WRITE_HANDLE : WRITE_ZERO;
        if ((starts && e->from.arg == write->arg) || (ends && e->arg == write->arg))
            return write->kind == RH_EFFECT_WRITE && !write->indirect;
    }
    return false;
}

static void read_effect(struct collector *c, const struct rh_library_row *row,
                        const struct rh_effect *e)
{
    uint32_t first = e->arg < 0 ? 0 : (uint32_t)e->arg;
    uint32_t last = e->rest ? c->inst->op_count : first + 1;
    enum flow_write_kind kind = WRITE_ANY;
    if (is_handle_write(row, e, &kind)) {
        add_direct(c, first, 8, kind);
        return;
    }
    switch (e->kind) {
    case RH_EFFECT_WRITE:
    case RH_EFFECT_COPY:
    case RH_EFFECT_ALLOC:
    case RH_EFFECT_PUT:
    case RH_EFFECT_STATIC:
    case RH_EFFECT_GIVE:
    case RH_EFFECT_THREAD_GIVE:
        for (uint32_t i = first; e->arg >= 0 && i < last; i++) {
            if (e->indirect || e->inside)
                add_indirect(c, i, e->indirect);
            else
                add_direct(c, i, e->kind == RH_EFFECT_WRITE ? e->bytes : 0, WRITE_ANY);
        }
        return;
    case RH_EFFECT_LINK:
        add_indirect(c, first, 0);
        add_indirect(c, first, 1);
        for (uint32_t i = 0; i < e->param_count; i++) {
            add_indirect(c, (uint32_t)e->params[i].arg, 0);
            add_indirect(c, (uint32_t)e->params[i].arg, 1);
        }
        return;
    case RH_EFFECT_THREAD:
    case RH_EFFECT_VIRTUAL_THREAD:
        if (e->from.arg >= 0)
            add_direct(c, (uint32_t)e->from.arg, 8, WRITE_HANDLE);
        return;
    default:
        return;
    }
}

static void read_call(struct collector *c)
{
    if (c->inst->intrinsic) {
        read_intrinsic(c);
        return;
    }
    if (c->inst->callee->kind == RH_VALUE_ASM) {
        for (uint32_t i = 0; i < c->inst->op_count && !c->inst->no_memory; i++)
            add_direct(c, i, 0, WRITE_ANY);
        return;
    }
    struct rh_call_targets call = rh_pointsto_call(c->f->pointsto, c->instance, c->inst);
    for (uint32_t i = 0; i < call.library_count; i++)
        for (uint32_t k = 0; k < call.libraries[i]->effect_count; k++)
            read_effect(c, call.libraries[i], &call.libraries[i]->effects[k]);
}

static void read_inst(struct collector *c)
{
    switch (c->inst->op) {
    case RH_OP_STORE:
        add_direct(c, 1, c->inst->access->size, is_zero(c->inst->ops[0]) ? WRITE_ZERO : WRITE_ANY);
        return;
    case RH_OP_RMW:
    case RH_OP_CMPXCHG:
        add_direct(c, 0, c->inst->access->size, WRITE_ANY);
        return;
    case RH_OP_VAARG:
        add_direct(c, 0, 0, WRITE_ANY);
        return;
    case RH_OP_CALL:
    case RH_OP_INVOKE:
    case RH_OP_CALLBR:
        read_call(c);
        return;
    default:
        return;
    }
}

/* --- the index --- */

static void index_object(struct rh_flow *f, uint32_t object, uint32_t number)
{
    struct write_numbers *list = &f->writes_of[object];
    if (!list->len || rh_vec_last(list) != number)
        rh_vec_push(list, number);
}

static void index_set(struct rh_flow *f, const struct flow_write *w, uint32_t number)
{
    uint32_t id;
    for (uint64_t at = 0; w->objects && rh_idset_next(w->objects, &at, &id);)
        index_object(f, id, number);
    for (uint64_t at = 0; !w->objects && rh_idset_next(w->cells, &at, &id);)
        index_object(f, rh_pointsto_cell(f->pointsto, id)->object, number);
}

static void index_writes(struct rh_flow *f)
{
    struct rh_map set_of = RH_MAP_INIT;
    f->writes_of =
        rh_calloc(rh_pointsto_object_count(f->pointsto) + (size_t)1, sizeof *f->writes_of);
    for (uint32_t i = 0; i < f->writes.len; i++) {
        const struct flow_write *w = &f->writes.data[i];
        uint64_t number = f->write_sets.len, key = rh_map_key(w->objects ? w->objects : w->cells);
        if (!rh_map_get(&set_of, key, &number)) {
            rh_map_put(&set_of, key, number);
            rh_vec_push(&f->write_sets, (struct flow_write_set){0});
            index_set(f, w, (uint32_t)number);
        }
        rh_vec_push(&f->write_sets.data[number].writes, i);
    }
    rh_map_release(&set_of);
}

/* The objects of the cells; false if writes to them cannot be known. */
static bool list_objects(const struct rh_flow *f, const struct rh_idset *cells,
                         struct rh_idset *out)
{
    uint32_t cell;
    for (uint64_t at = 0; rh_idset_next(cells, &at, &cell);) {
        uint32_t object = rh_pointsto_cell(f->pointsto, cell)->object;
        enum rh_object_kind kind = rh_pointsto_object(f->pointsto, object)->kind;
        if (kind != RH_OBJECT_GLOBAL && kind != RH_OBJECT_STACK && kind != RH_OBJECT_HEAP)
            return false;
        rh_idset_add(out, object);
    }
    return !rh_idset_is_empty(cells) && !flow_touches_outside(f, cells);
}

static bool visit_set(struct rh_flow *f, const struct flow_write_set *set,
                      const struct rh_idset *cells, uint64_t size, flow_write_visitor *visit,
                      void *data)
{
    rh_vec_each (const uint32_t, number, &set->writes) {
        const struct flow_write *w = &f->writes.data[*number];
        bool touches = w->objects || flow_cells_overlap(f, cells, size, w->cells, w->size);
        if (touches && !visit(f, w, data))
            return false;
    }
    return true;
}

bool flow_each_write(struct rh_flow *f, const struct rh_idset *cells, uint64_t size,
                     flow_write_visitor *visit, void *data)
{
    struct rh_idset objects = RH_IDSET_INIT, seen = RH_IDSET_INIT;
    uint32_t object;
    bool ok = list_objects(f, cells, &objects);
    for (uint64_t at = 0; ok && rh_idset_next(&objects, &at, &object);) {
        const struct write_numbers *list = &f->writes_of[object];
        for (size_t i = 0; ok && i < list->len; i++)
            if (rh_idset_add(&seen, list->data[i]))
                ok = visit_set(f, &f->write_sets.data[list->data[i]], cells, size, visit, data);
    }
    rh_idset_release(&objects);
    rh_idset_release(&seen);
    return ok;
}

void flow_writes_collect(struct rh_flow *f)
{
    for (uint32_t i = 0; i < f->body_count; i++) {
        const struct rh_function *fn = f->bodies[i].fn;
        for (uint32_t b = 0; b < fn->block_count; b++)
            for (struct rh_value *inst = fn->blocks[b]->first; inst; inst = inst->next) {
                struct collector c = {f, i, inst};
                read_inst(&c);
            }
    }
    index_writes(f);
}

void flow_writes_release(struct rh_flow *f)
{
    for (uint32_t i = 0; f->writes_of && i < rh_pointsto_object_count(f->pointsto); i++)
        rh_vec_free(&f->writes_of[i]);
    free(f->writes_of);
    rh_vec_each (struct flow_write_set, set, &f->write_sets)
        rh_vec_free(&set->writes);
    rh_vec_free(&f->write_sets);
    rh_vec_each (struct rh_idset *, set, &f->own_sets) {
        rh_idset_release(*set);
        free(*set);
    }
    rh_vec_free(&f->own_sets);
    rh_map_release(&f->contents);
    rh_vec_free(&f->writes);
}
