/* SPDX-License-Identifier: Apache-2.0 */
/* Calls, library functions and the outside, for the points-to analysis. */
#include <string.h>

#include "analysis/pointsto/internal.h"
#include "base/mem.h"

/* --- instances --- */

static uint32_t add_instance(struct rh_pointsto *p, struct rh_function *fn, struct rh_value *call,
                             uint32_t caller)
{
    uint32_t id = (uint32_t)p->instances.len, values = fn->arg_count + fn->inst_count;
    struct instance in = {
        .public = {.id = id, .fn = fn, .call = call, .caller = caller},
        .nodes = rh_alloc_array(values, sizeof *in.nodes),
        .first_value = fn->arg_count ? fn->args[0]->id : fn->blocks[0]->first->id,
        .result = pt_add_node(p),
        .varargs = NO_NODE,
        .depth = call ? p->instances.data[caller].depth + 1 : 0,
    };
    memset(in.nodes, 0xff, values * sizeof *in.nodes);
    rh_vec_push(&p->instances, in);
    rh_vec_push(&p->instances_of[fn->id], id);
    rh_vec_push(&p->pending, id);
    return id;
}

uint32_t pt_base_instance(struct rh_pointsto *p, struct rh_function *fn)
{
    if (p->base_instance[fn->id] == RH_NO_INSTANCE)
        p->base_instance[fn->id] = add_instance(p, fn, NULL, RH_NO_INSTANCE);
    return p->base_instance[fn->id];
}

/* Wrappers get an instance of their own as long as that does not multiply the program. */
static uint32_t instance_for(struct rh_pointsto *p, struct rh_function *fn, uint32_t call)
{
    enum { MOST_DEPTH = 3, FREE_CLONES = 20000 };
    uint32_t caller = p->calls.data[call].instance;
    if (!p->wrapper[fn->id] || p->instances.data[caller].depth >= MOST_DEPTH ||
        p->cloned > p->may_clone + FREE_CLONES)
        return pt_base_instance(p, fn);
    p->cloned += fn->inst_count;
    return add_instance(p, fn, p->calls.data[call].inst, caller);
}

uint32_t pt_entry_instance(struct rh_pointsto *p, struct rh_function *fn, uint32_t call)
{
    enum { MOST_STARTS = 16 };
    if (p->instances_of[fn->id].len >= MOST_STARTS)
        return pt_base_instance(p, fn);
    uint32_t id = add_instance(p, fn, p->calls.data[call].inst, p->calls.data[call].instance);
    p->instances.data[id].is_entry = true;
    p->instances.data[id].depth = 0;
    return id;
}

/* --- functions of the module --- */

static void pass_variable_arguments(struct rh_pointsto *p, uint32_t call, uint32_t target,
                                    uint32_t first)
{
    struct instance *in = &p->instances.data[target];
    if (in->varargs == NO_NODE) {
        uint32_t area = pt_add_object(p, RH_OBJECT_STACK, in->public.fn->value, target, 0);
        p->instances.data[target].varargs = area;
    }
    struct rh_cell all = {
        .object = p->instances.data[target].varargs, .stride = RH_POINTER_BYTES, .end = INT64_MAX};
    uint32_t contents = pt_entry(p, pt_cell(p, &all));
    for (uint32_t i = first; i < p->calls.data[call].inst->op_count; i++)
        pt_flow(p, pt_argument(p, call, (int)i), contents);
}

static void connect_body(struct rh_pointsto *p, uint32_t call, struct rh_function *fn)
{
    uint32_t target = instance_for(p, fn, call);
    rh_idset_add(&p->calls.data[call].targets, target);
    for (uint32_t i = 0; i < fn->arg_count; i++)
        pt_flow(p, pt_argument(p, call, (int)i), pt_def_of(p, target, fn->args[i]));
    if (fn->type->variadic)
        pass_variable_arguments(p, call, target, fn->arg_count);
    pt_flow(p, p->instances.data[target].result, pt_result(p, call));
}

/* --- the outside --- */

/* Memory from outside comes into play with the first code that can hand it in. */
static void open_outside(struct rh_pointsto *p)
{
    struct rh_cell cell = {.end = INT64_MAX};
    if (p->outside_open)
        return;
    p->outside_open = true;
    pt_add_cell(p, p->outside, p->outside_cell);
    pt_flow(p, p->kept, p->sink);
    for (uint32_t i = 0; i < rh_ir_global_count(p->module); i++) {
        struct rh_value *v = rh_ir_global(p->module, i);
        if (!v->global->is_declaration && !(p->options.is_library && !v->global->is_local))
            continue;
        cell.object = pt_object_of(p, v);
        pt_add_cell(p, p->sink, pt_cell(p, &cell));
    }
}

static void connect_unknown(struct rh_pointsto *p, uint32_t call, struct rh_function *fn)
{
    uint64_t at;
    open_outside(p);
    p->calls.data[call].unknown = true;
    for (uint32_t i = 0; i < p->calls.data[call].inst->op_count; i++)
        pt_flow(p, pt_argument(p, call, (int)i), p->sink);
    pt_flow(p, p->outside, pt_result(p, call));
    if (!fn)
        return;
    if (!rh_map_get(&p->unknown_of, fn->id, &at)) {
        at = p->unknown.len;
        rh_map_put(&p->unknown_of, fn->id, at);
        rh_vec_push(&p->unknown, (struct rh_unknown_function){.fn = fn});
    }
    p->unknown.data[at].calls++;
}

void pt_call_from_outside(struct rh_pointsto *p, struct rh_function *fn)
{
    if (!fn->block_count || !rh_idset_add(&p->outside_seen, fn->id))
        return;
    uint32_t target = pt_base_instance(p, fn);
    open_outside(p);
    rh_idset_add(&p->called_from_outside, target);
    for (uint32_t i = 0; i < fn->arg_count; i++)
        pt_flow(p, p->outside, pt_def_of(p, target, fn->args[i]));
    pt_flow(p, p->instances.data[target].result, p->sink);
}

void pt_use_outside(struct rh_pointsto *p, uint32_t cell)
{
    uint32_t object = p->cells.data[cell].object;
    struct object *o = &p->objects.data[object];
    if (o->public.kind == RH_OBJECT_FUNCTION) {
        pt_call_from_outside(p, o->public.value->fn);
        return;
    }
    if (o->public.kind == RH_OBJECT_OUTSIDE || o->outside)
        return;
    o->outside = true;
    for (size_t i = 0; i < p->objects.data[object].fields.len; i++) {
        struct field field = p->objects.data[object].fields.data[i];
        pt_open_field(p, object, &field);
    }
}

/* --- calls --- */

static void connect_function(struct rh_pointsto *p, uint32_t call, struct rh_value *value)
{
    struct rh_function *fn = value->fn;
    if (!rh_idset_add(&p->calls.data[call].seen, fn->id))
        return;
    const struct rh_library_row *row = fn->block_count ? NULL : rh_library_find(fn->name);
    if (fn->block_count)
        connect_body(p, call, fn);
    else if (row)
        pt_connect_library(p, call, value, row);
    else
        connect_unknown(p, call, fn);
}

/* How a value of the type is passed. */
enum passing { IN_MEMORY, AS_WORD, AS_NUMBER, AS_FLOAT };

static enum passing passing_of(const struct rh_type *type)
{
    switch (type->kind) {
    case RH_TYPE_PTR:
        return AS_WORD;
    case RH_TYPE_INT:
        return type->bits == 64 ? AS_WORD : AS_NUMBER;
    case RH_TYPE_FLOAT:
    case RH_TYPE_VECTOR:
        return AS_FLOAT;
    default:
        return IN_MEMORY;
    }
}

/* Called with too few arguments or others than it takes, a function cannot be meant: the pointer
 * only looks that way. One argument too many is a habit: free() as a callback that is given the
 * user's data as well. */
static bool fits_call(const struct rh_value *call, const struct rh_function *fn)
{
    uint64_t count = fn->type->count;
    if (count > call->op_count || (!fn->type->variadic && count + 1 < call->op_count))
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (passing_of(fn->type->elems[i]) != passing_of(call->ops[i]->type))
            return false;
    return !call->user_count || call->type->kind == RH_TYPE_VOID ||
           passing_of(fn->type->ret) == passing_of(call->type);
}

void pt_use_function(struct rh_pointsto *p, const struct use *use, uint32_t object)
{
    const struct rh_object *o = &p->objects.data[object].public;
    if (o->kind == RH_OBJECT_OUTSIDE && use->kind == USE_CALL) {
        if (!p->calls.data[use->call].unknown)
            connect_unknown(p, use->call, NULL);
        return;
    }
    if (o->kind != RH_OBJECT_FUNCTION)
        return;
    if (use->kind != USE_CALL)
        pt_connect_callback(p, use, o->value->fn);
    else if (fits_call(p->calls.data[use->call].inst, o->value->fn))
        connect_function(p, use->call, o->value);
}

static struct rh_value *resolve_callee(struct rh_value *v)
{
    while ((v->kind == RH_VALUE_ALIAS && !v->is_ifunc) ||
           (v->kind == RH_VALUE_EXPR && v->op == RH_OP_BITCAST))
        v = v->ops[0];
    return v;
}

uint32_t pt_guided(struct rh_pointsto *p, uint32_t instance, struct rh_value *v)
{
    const struct rh_pointsto *guide = p->options.guide;
    uint32_t node = pt_node_of(p, instance, v), count, cell;
    if (!guide || node == NO_NODE || (v->kind != RH_VALUE_INST && v->kind != RH_VALUE_ARG))
        return node;
    uint32_t all = pt_add_node(p);
    pt_add_copy_edge(p, node, all);
    const uint32_t *instances = rh_pointsto_instances_of(guide, v->fn, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct rh_idset *cells = rh_pointsto_of(guide, instances[i], v);
        for (uint64_t at = 0; rh_idset_next(cells, &at, &cell);) {
            const struct rh_object *o =
                rh_pointsto_object(guide, rh_pointsto_cell(guide, cell)->object);
            struct rh_cell entry = {.end = INT64_MAX};
            if (o->kind != RH_OBJECT_FUNCTION)
                continue;
            entry.object = pt_object_of(p, o->value);
            pt_add_cell(p, all, pt_cell(p, &entry));
        }
    }
    return all;
}

static uint32_t add_call(struct rh_pointsto *p, uint32_t instance, struct rh_value *inst)
{
    uint32_t id = (uint32_t)p->calls.len;
    rh_vec_push(&p->calls, (struct call){.inst = inst, .instance = instance});
    rh_map_put(&p->call_of, (uint64_t)instance << 32 | inst->id, id);
    /* Others ask what the arguments point to, also where it does not matter here (locks). */
    for (uint32_t i = 0; i < inst->op_count; i++)
        pt_node_of(p, instance, inst->ops[i]);
    return id;
}

/* Assembly may move any of its operands through any memory it is given, unless it says that it
 * touches none. */
static void read_assembly(struct rh_pointsto *p, uint32_t instance, struct rh_value *inst)
{
    uint32_t out = pt_def_of(p, instance, inst), all = NO_NODE;
    for (uint32_t i = 0; i < inst->op_count; i++) {
        uint32_t node = pt_node_of(p, instance, inst->ops[i]);
        if (node == NO_NODE)
            continue;
        if (all == NO_NODE)
            all = pt_add_node(p);
        pt_flow(p, node, all);
        if (inst->no_memory)
            continue;
        pt_flow(p, pt_load(p, node), all);
        pt_store(p, node, all);
    }
    pt_flow(p, all, out);
}

static uint64_t length_of(const struct rh_value *length)
{
    return length->kind == RH_VALUE_INT && length->num >= 0 ? (uint64_t)length->num : UINT64_MAX;
}

static void start_variable_arguments(struct rh_pointsto *p, uint32_t instance, uint32_t list)
{
    enum { LIST_BYTES = 24 }; /* two counters, two pointers */
    struct instance *in = &p->instances.data[instance];
    if (in->varargs == NO_NODE) {
        uint32_t area = pt_add_object(p, RH_OBJECT_STACK, in->public.fn->value, instance, 0);
        p->instances.data[instance].varargs = area;
    }
    struct rh_cell all = {.object = p->instances.data[instance].varargs,
                          .stride = RH_POINTER_BYTES,
                          .end = INT64_MAX};
    uint32_t node = pt_add_node(p);
    pt_add_cell(p, node, pt_cell(p, &all));
    if (list != NO_NODE)
        pt_add_use(p, list, &(struct use){.kind = USE_STORE, .node = node, .bytes = LIST_BYTES});
}

static void read_intrinsic(struct rh_pointsto *p, uint32_t instance, struct rh_value *inst)
{
    const char *name = inst->intrinsic;
    uint32_t out = pt_def_of(p, instance, inst);
    uint32_t first = inst->op_count ? pt_node_of(p, instance, inst->ops[0]) : NO_NODE;
    uint32_t second = inst->op_count > 1 ? pt_node_of(p, instance, inst->ops[1]) : NO_NODE;
    if (strncmp(name, "llvm.memcpy", 11) == 0 || strncmp(name, "llvm.memmove", 12) == 0)
        pt_copy_memory(p, first, second, length_of(inst->ops[2]));
    else if (strncmp(name, "llvm.va_start", 13) == 0)
        start_variable_arguments(p, instance, first);
    else if (strncmp(name, "llvm.va_copy", 12) == 0)
        pt_copy_memory(p, first, second, 24);
    else if (strcmp(name, "llvm.masked.load") == 0 || strcmp(name, "llvm.masked.gather") == 0 ||
             strcmp(name, "llvm.masked.expandload") == 0) {
        if (first != NO_NODE && out != NO_NODE)
            pt_add_use(p, first,
                       &(struct use){.kind = USE_LOAD, .node = out, .bytes = inst->type->size});
    } else if (strcmp(name, "llvm.masked.store") == 0 || strcmp(name, "llvm.masked.scatter") == 0 ||
               strcmp(name, "llvm.masked.compressstore") == 0) {
        if (first != NO_NODE && second != NO_NODE)
            pt_add_use(
                p, second,
                &(struct use){.kind = USE_STORE, .node = first, .bytes = inst->ops[0]->type->size});
    } else if (out != NO_NODE) {
        for (uint32_t i = 0; i < inst->op_count; i++)
            pt_flow(p, pt_node_of(p, instance, inst->ops[i]), out);
    }
}

void pt_read_call(struct rh_pointsto *p, uint32_t instance, struct rh_value *inst)
{
    if (inst->intrinsic) {
        read_intrinsic(p, instance, inst);
        return;
    }
    struct rh_value *callee = resolve_callee(inst->callee);
    if (callee->kind == RH_VALUE_ASM) {
        read_assembly(p, instance, inst);
        return;
    }
    uint32_t call = add_call(p, instance, inst);
    if (callee->kind == RH_VALUE_FUNCTION) {
        connect_function(p, call, callee);
        return;
    }
    uint32_t node = pt_guided(p, instance, callee);
    if (callee->kind == RH_VALUE_NULL || callee->kind == RH_VALUE_UNDEF)
        return;          /* code that never runs */
    if (node == NO_NODE) /* a number: nothing is known of what is there */
        connect_unknown(p, call, NULL);
    else
        pt_add_use(p, node, &(struct use){.kind = USE_CALL, .call = call});
}
