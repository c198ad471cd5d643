/* SPDX-License-Identifier: Apache-2.0 */
/* The points-to analysis as a whole, and the questions it answers: see pointsto.h. */
#include "analysis/pointsto/pointsto.h"

#include <string.h>

#include "analysis/pointsto/internal.h"
#include "base/mem.h"

/* --- beginning --- */

static void make_outside(struct rh_pointsto *p)
{
    p->outside = pt_add_node(p);
    p->kept = pt_add_node(p);
    p->own_kept = pt_add_node(p);
    p->sent = pt_add_node(p);
    p->sink = pt_add_node(p);
    p->outside_object = pt_add_object(p, RH_OBJECT_OUTSIDE, NULL, RH_NO_INSTANCE, 0);
    p->outside_cell = pt_cell(p, &(struct rh_cell){.object = p->outside_object, .end = INT64_MAX});
    pt_add_use(p, p->sink, &(struct use){.kind = USE_OUTSIDE});
}

/* The arguments of main are memory that was there before the program. */
static void start_main(struct rh_pointsto *p, struct rh_function *fn)
{
    uint32_t instance = pt_base_instance(p, fn);
    uint32_t words = pt_add_object(p, RH_OBJECT_LIBRARY, fn->value, RH_NO_INSTANCE, 0);
    struct rh_cell begin = {.object = words, .end = INT64_MAX};
    for (uint32_t i = 1; i < fn->arg_count; i++) {
        uint32_t node = pt_def_of(p, instance, fn->args[i]);
        if (node != NO_NODE)
            pt_add_cell(p, node, pt_cell(p, &begin));
    }
}

static void start_listed(struct rh_pointsto *p, const char *list)
{
    struct rh_value *v = rh_ir_find_global(p->module, list);
    struct rh_value *init = v ? v->global->init : NULL;
    for (uint32_t i = 0; init && init->kind == RH_VALUE_AGGREGATE && i < init->op_count; i++) {
        struct rh_value *row = init->ops[i];
        if (row->kind == RH_VALUE_AGGREGATE && row->op_count > 1 &&
            row->ops[1]->kind == RH_VALUE_FUNCTION && row->ops[1]->fn->block_count)
            pt_base_instance(p, row->ops[1]->fn);
    }
}

static void start(struct rh_pointsto *p)
{
    struct rh_function *fn = rh_ir_find_function(p->module, "main");
    if (fn && fn->block_count)
        start_main(p, fn);
    start_listed(p, "llvm.global_ctors");
    start_listed(p, "llvm.global_dtors");
    for (uint32_t i = 0; i < rh_ir_function_count(p->module); i++) {
        fn = rh_ir_function(p->module, i);
        if (fn->is_entry || (p->options.is_library && !fn->is_local))
            pt_call_from_outside(p, fn);
    }
    for (uint32_t i = 0; p->options.guide && i < rh_ir_function_count(p->module); i++)
        if (rh_idset_has(&p->options.guide->outside_seen, i))
            pt_call_from_outside(p, rh_ir_function(p->module, i));
}

/* --- end --- */

static void list_set(const struct rh_idset *set, uint32_t **data, size_t *len)
{
    uint32_t id, count = rh_idset_count(set);
    *data = rh_alloc_array(count, sizeof **data);
    *len = 0;
    for (uint64_t at = 0; rh_idset_next(set, &at, &id);)
        (*data)[(*len)++] = id;
}

/* How much of memory each unknown function was given. */
static void weigh_unknown(struct rh_pointsto *p)
{
    struct rh_idset *given = rh_calloc(p->unknown.len, sizeof *given);
    for (size_t i = 0; i < p->calls.len; i++) {
        const struct call *c = &p->calls.data[i];
        uint64_t at;
        struct rh_value *callee = c->inst->callee;
        if (!c->unknown || callee->kind != RH_VALUE_FUNCTION ||
            !rh_map_get(&p->unknown_of, callee->fn->id, &at))
            continue;
        for (uint32_t a = 0; a < c->inst->op_count; a++) {
            const struct rh_idset *cells = rh_pointsto_of(p, c->instance, c->inst->ops[a]);
            uint32_t cell;
            for (uint64_t w = 0; rh_idset_next(cells, &w, &cell);)
                rh_idset_add(&given[at], p->cells.data[cell].object);
        }
    }
    for (size_t i = 0; i < p->unknown.len; i++) {
        p->unknown.data[i].objects = rh_idset_count(&given[i]);
        rh_idset_release(&given[i]);
    }
    free(given);
}

static void finish(struct rh_pointsto *p)
{
    rh_vec_each (struct call, c, &p->calls) {
        list_set(&c->targets, &c->target_list.data, &c->target_list.len);
        list_set(&c->entries, &c->entry_list.data, &c->entry_list.len);
    }
    list_set(&p->called_from_outside, &p->outside_list.data, &p->outside_list.len);
    weigh_unknown(p);
    for (uint32_t i = 0; p->outside_open && i < p->objects.len; i++)
        if (p->objects.data[i].outside || i == p->outside_object)
            rh_idset_add(&p->outside_cells,
                         pt_cell(p, &(struct rh_cell){.object = i, .end = INT64_MAX}));
}

struct rh_pointsto *rh_pointsto_solve(struct rh_module *m, const struct rh_pointsto_options *o)
{
    struct rh_pointsto *p = rh_calloc(1, sizeof *p);
    uint32_t functions = rh_ir_function_count(m);
    p->module = m;
    p->options = *o;
    p->current_rank = UINT32_MAX;
    p->instances_of = rh_calloc(functions, sizeof *p->instances_of);
    p->base_instance = rh_alloc_array(functions, sizeof *p->base_instance);
    memset(p->base_instance, 0xff, functions * sizeof *p->base_instance);
    p->wrapper = rh_calloc(functions, sizeof *p->wrapper);
    p->layouts = rh_layouts_read(m);
    pt_find_wrappers(p);
    make_outside(p);
    pt_read_initialisers(p);
    start(p);
    pt_solve(p);
    finish(p);
    return p;
}

static void free_nodes(struct rh_pointsto *p)
{
    rh_vec_each (struct node, n, &p->nodes) {
        rh_idset_release(&n->cells);
        rh_idset_release(&n->news);
        rh_idset_release(&n->copies);
        rh_vec_free(&n->shifts);
        rh_vec_free(&n->uses);
    }
    rh_vec_free(&p->nodes);
}

static void free_calls(struct rh_pointsto *p)
{
    rh_vec_each (struct call, c, &p->calls) {
        rh_idset_release(&c->targets);
        rh_idset_release(&c->entries);
        rh_idset_release(&c->seen);
        rh_vec_free(&c->libraries);
        rh_vec_free(&c->target_list);
        rh_vec_free(&c->entry_list);
    }
    rh_vec_free(&p->calls);
}

void rh_pointsto_free(struct rh_pointsto *p)
{
    if (!p)
        return;
    free_nodes(p);
    free_calls(p);
    rh_vec_each (struct object, o, &p->objects) {
        rh_vec_free(&o->fields);
        rh_vec_free(&o->watchers);
    }
    rh_vec_each (struct instance, in, &p->instances)
        free(in->nodes);
    rh_vec_each (struct copy, c, &p->copies) {
        rh_idset_release(&c->from);
        rh_idset_release(&c->to);
    }
    for (uint32_t i = 0; i < rh_ir_function_count(p->module); i++)
        rh_vec_free(&p->instances_of[i]);
    free(p->instances_of);
    free(p->base_instance);
    free(p->wrapper);
    free(p->cell_slots);
    rh_layouts_free(p->layouts);
    rh_vec_free(&p->objects);
    rh_vec_free(&p->instances);
    rh_vec_free(&p->copies);
    rh_vec_free(&p->cells);
    rh_vec_free(&p->unknown);
    rh_vec_free(&p->outside_list);
    rh_vec_free(&p->pending);
    rh_vec_free(&p->heap);
    rh_idset_release(&p->callable);
    rh_vec_free(&p->later);
    rh_idset_release(&p->called_from_outside);
    rh_idset_release(&p->outside_cells);
    rh_idset_release(&p->outside_seen);
    rh_map_release(&p->call_of);
    rh_map_release(&p->object_of);
    rh_map_release(&p->constants);
    rh_map_release(&p->declared);
    rh_map_release(&p->raw_of);
    rh_map_release(&p->view_of);
    rh_map_release(&p->alike);
    rh_vec_free(&p->fields_of);
    rh_map_release(&p->unknown_of);
    free(p);
}

/* --- questions --- */

uint32_t rh_pointsto_instance_count(const struct rh_pointsto *p)
{
    return (uint32_t)p->instances.len;
}

const struct rh_instance *rh_pointsto_instance(const struct rh_pointsto *p, uint32_t id)
{
    return &p->instances.data[id].public;
}

const uint32_t *rh_pointsto_instances_of(const struct rh_pointsto *p, const struct rh_function *f,
                                         uint32_t *count)
{
    *count = (uint32_t)p->instances_of[f->id].len;
    return p->instances_of[f->id].data;
}

uint32_t rh_pointsto_object_count(const struct rh_pointsto *p)
{
    return (uint32_t)p->objects.len;
}

const struct rh_object *rh_pointsto_object(const struct rh_pointsto *p, uint32_t id)
{
    return &p->objects.data[id].public;
}

const struct rh_cell *rh_pointsto_cell(const struct rh_pointsto *p, uint32_t id)
{
    return &p->cells.data[id];
}

static const struct rh_idset *cells_of(const struct rh_pointsto *p, uint32_t node)
{
    if (node == NO_NODE)
        return &p->empty;
    while (p->nodes.data[node].rep != node)
        node = p->nodes.data[node].rep;
    return &p->nodes.data[node].cells;
}

const struct rh_idset *rh_pointsto_of(const struct rh_pointsto *p, uint32_t instance,
                                      const struct rh_value *v)
{
    uint64_t node;
    if (v->kind == RH_VALUE_INST || v->kind == RH_VALUE_ARG) {
        const struct instance *in = &p->instances.data[instance];
        return cells_of(p, in->nodes[v->id - in->first_value]);
    }
    while (v->kind == RH_VALUE_ALIAS && !v->is_ifunc)
        v = v->ops[0];
    return rh_map_get(&p->constants, v->id, &node) ? cells_of(p, (uint32_t)node) : &p->empty;
}

void rh_pointsto_contents(const struct rh_pointsto *p, uint32_t object, struct rh_idset *out)
{
    rh_vec_each (struct field, field, &p->objects.data[object].fields)
        rh_idset_unite(out, cells_of(p, field->node));
}

void rh_pointsto_held(const struct rh_pointsto *p, uint32_t cell, uint64_t bytes,
                      struct rh_idset *out)
{
    const struct rh_cell *c = &p->cells.data[cell];
    if (c->object == p->outside_object)
        rh_idset_unite(out, cells_of(p, p->outside));
    rh_vec_each (struct field, field, &p->objects.data[c->object].fields)
        if (rh_cells_overlap(c, bytes, &p->cells.data[field->cell], RH_POINTER_BYTES))
            rh_idset_unite(out, cells_of(p, field->node));
}

const struct rh_idset *rh_pointsto_outside(const struct rh_pointsto *p)
{
    return &p->outside_cells;
}

bool rh_pointsto_is_outside(const struct rh_pointsto *p, uint32_t object)
{
    return p->objects.data[object].outside;
}

const struct rh_idset *rh_pointsto_kept(const struct rh_pointsto *p)
{
    return cells_of(p, p->kept);
}

const struct rh_idset *rh_pointsto_sent(const struct rh_pointsto *p)
{
    return cells_of(p, p->sent);
}

static const struct call *find_call(const struct rh_pointsto *p, uint32_t instance,
                                    const struct rh_value *call)
{
    uint64_t at;
    return rh_map_get(&p->call_of, (uint64_t)instance << 32 | call->id, &at) ? &p->calls.data[at]
                                                                             : NULL;
}

struct rh_call_targets rh_pointsto_call(const struct rh_pointsto *p, uint32_t instance,
                                        const struct rh_value *inst)
{
    const struct call *c = find_call(p, instance, inst);
    if (!c)
        return (struct rh_call_targets){0};
    return (struct rh_call_targets){
        .count = (uint32_t)c->target_list.len,
        .targets = c->target_list.data,
        .library_count = (uint32_t)c->libraries.len,
        .libraries = c->libraries.data,
        .unknown = c->unknown,
    };
}

const uint32_t *rh_pointsto_called_from_outside(const struct rh_pointsto *p, uint32_t *count)
{
    *count = (uint32_t)p->outside_list.len;
    return p->outside_list.data;
}

const uint32_t *rh_pointsto_entries(const struct rh_pointsto *p, uint32_t instance,
                                    const struct rh_value *inst, uint32_t *count)
{
    const struct call *c = find_call(p, instance, inst);
    *count = c ? (uint32_t)c->entry_list.len : 0;
    return c ? c->entry_list.data : NULL;
}

const struct rh_unknown_function *rh_pointsto_unknown(const struct rh_pointsto *p, size_t *count)
{
    *count = p->unknown.len;
    return p->unknown.data;
}
