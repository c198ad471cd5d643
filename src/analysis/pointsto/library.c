/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What library functions do to pointers: the effects of library.def as constraints.
 */
#include <string.h>

#include "analysis/pointsto/internal.h"

static const struct shift anywhere = {.stride = 1, .down = true};

/* --- small steps --- */

uint32_t pt_argument(struct rh_pointsto *p, uint32_t call, int arg)
{
    const struct call *c = &p->calls.data[call];
    if (arg < 0 || (uint32_t)arg >= c->inst->op_count)
        return NO_NODE;
    return pt_node_of(p, c->instance, c->inst->ops[arg]);
}

uint32_t pt_result(struct rh_pointsto *p, uint32_t call)
{
    const struct call *c = &p->calls.data[call];
    return pt_def_of(p, c->instance, c->inst);
}

void pt_flow(struct rh_pointsto *p, uint32_t from, uint32_t to)
{
    if (from != NO_NODE && to != NO_NODE)
        pt_add_copy_edge(p, from, to);
}

/* What one word at the pointer holds. */
uint32_t pt_load(struct rh_pointsto *p, uint32_t pointer)
{
    if (pointer == NO_NODE)
        return NO_NODE;
    uint32_t node = pt_add_node(p);
    pt_add_use(p, pointer,
               &(struct use){.kind = USE_LOAD, .node = node, .bytes = RH_POINTER_BYTES});
    return node;
}

void pt_store(struct rh_pointsto *p, uint32_t pointer, uint32_t value)
{
    if (pointer != NO_NODE && value != NO_NODE)
        pt_add_use(p, pointer,
                   &(struct use){.kind = USE_STORE, .node = value, .bytes = RH_POINTER_BYTES});
}

/* A struct is copied word by word; a pointer in it stands at a multiple of its size. Less than a
 * word may be a piece of one. */
static void copy_words(struct rh_pointsto *p, uint32_t to, uint32_t from, uint64_t bytes)
{
    uint64_t word = bytes < RH_POINTER_BYTES ? bytes : RH_POINTER_BYTES;
    for (uint64_t at = 0; word && at + word <= bytes; at += word) {
        struct use use = {.node = pt_add_node(p), .bytes = word, .offset = (int64_t)at};
        use.kind = USE_LOAD;
        pt_add_use(p, from, &use);
        use.kind = USE_STORE;
        pt_add_use(p, to, &use);
    }
}

void pt_copy_memory(struct rh_pointsto *p, uint32_t to, uint32_t from, uint64_t bytes)
{
    enum { MOST_WORDS = 32 };
    if (to == NO_NODE || from == NO_NODE)
        return;
    bool is_words = bytes < RH_POINTER_BYTES || bytes % RH_POINTER_BYTES == 0; /* else packed */
    if (bytes <= MOST_WORDS * RH_POINTER_BYTES && is_words) {
        copy_words(p, to, from, bytes);
        return;
    }
    if (bytes == UINT64_MAX) {
        uint32_t all = pt_add_node(p);
        pt_add_use(p, from, &(struct use){.kind = USE_LOAD_ALL, .node = all});
        pt_add_use(p, to, &(struct use){.kind = USE_STORE_ALL, .node = all});
        return;
    }
    uint32_t copy = pt_add_copy(p, bytes);
    pt_add_use(p, from, &(struct use){.kind = USE_COPY_FROM, .node = copy});
    pt_add_use(p, to, &(struct use){.kind = USE_COPY_TO, .node = copy});
}

uint32_t pt_make_pointer(struct rh_pointsto *p, uint32_t object)
{
    uint32_t node = pt_add_node(p);
    pt_add_cell(p, node, pt_cell(p, &(struct rh_cell){.object = object, .end = INT64_MAX}));
    return node;
}

/* Memory of a library function's own. */
static uint32_t library_object(struct rh_pointsto *p, struct rh_value *fn, enum rh_object_kind kind)
{
    uint64_t known, key = (uint64_t)1 << 40 | (uint64_t)kind << 36 | fn->id;
    if (rh_map_get(&p->object_of, key, &known))
        return (uint32_t)known;
    uint32_t object = pt_add_object(p, kind, fn, RH_NO_INSTANCE, 0);
    rh_map_put(&p->object_of, key, object);
    return object;
}

/* --- values as effects mention them --- */

/* Any pointer into the same memory. */
static uint32_t inside(struct rh_pointsto *p, uint32_t node)
{
    if (node == NO_NODE)
        return NO_NODE;
    uint32_t all = pt_add_node(p);
    pt_add_shift_edge(p, node, all, &anywhere);
    return all;
}

/* What the memory holds: in its first word, or in any (`any`), as many times over as said. */
static uint32_t look_through(struct rh_pointsto *p, uint32_t node, unsigned times, bool any)
{
    for (; times && node != NO_NODE; times--)
        node = pt_load(p, any ? inside(p, node) : node);
    return node;
}

static struct rh_value *called_function(struct rh_pointsto *p, uint32_t call)
{
    struct rh_value *callee = p->calls.data[call].inst->callee;
    return callee->kind == RH_VALUE_FUNCTION ? callee : p->calls.data[call].inst->fn->value;
}

/* Memory of the function's own in which there is what was kept, wherever one looks. */
static uint32_t holder_of_kept(struct rh_pointsto *p, struct rh_value *fn)
{
    uint32_t object = library_object(p, fn, RH_OBJECT_LIBRARY);
    struct rh_cell whole = {.object = object, .stride = 1, .end = INT64_MAX};
    pt_add_copy_edge(p, p->kept, pt_entry(p, pt_cell(p, &whole)));
    return pt_make_pointer(p, object);
}

static uint32_t value_of(struct rh_pointsto *p, uint32_t call, const struct rh_effect_arg *v)
{
    uint32_t node;
    switch (v->arg) {
    case RH_NO_ARG:
        node = pt_make_pointer(p, library_object(p, called_function(p, call), RH_OBJECT_LIBRARY));
        break;
    case RH_HOLDER_ARG:
        node = holder_of_kept(p, called_function(p, call));
        break;
    case RH_KEPT_ARG:
        node = p->kept;
        break;
    case RH_THREAD_KEPT_ARG:
        node = p->own_kept;
        break;
    default:
        node = pt_argument(p, call, v->arg);
        break;
    }
    node = look_through(p, node, v->indirect, v->any);
    return v->inside ? inside(p, node) : node;
}

/* What the effect is about, in its first argument or, with `...`, one of the rest. */
static uint32_t subject_of(struct rh_pointsto *p, uint32_t call, const struct rh_effect *e,
                           uint32_t arg)
{
    uint32_t node = look_through(p, pt_argument(p, call, (int)arg), e->indirect, e->any);
    return e->inside ? inside(p, node) : node;
}

/* --- effects --- */

/* How many bytes the function writes at an argument, if its row says so; else 0. */
static uint32_t written_bytes(const struct rh_library_row *row, int arg)
{
    for (uint32_t i = 0; i < row->effect_count; i++)
        if (row->effects[i].kind == RH_EFFECT_WRITE && row->effects[i].arg == arg &&
            !row->effects[i].indirect)
            return row->effects[i].bytes;
    return 0;
}

/* Gives the value to the result, or stores it where the effect says. */
static void hand_over(struct rh_pointsto *p, uint32_t call, const struct rh_effect *e,
                      uint32_t value)
{
    if (e->arg == RH_NO_ARG) {
        pt_flow(p, value, pt_result(p, call));
        return;
    }
    const struct rh_library_row *row = rh_vec_last(&p->calls.data[call].libraries);
    uint32_t bytes = e->inside && !e->indirect ? written_bytes(row, e->arg) : 0;
    uint32_t last = e->rest ? p->calls.data[call].inst->op_count : (uint32_t)e->arg + 1;
    for (uint32_t arg = (uint32_t)e->arg; arg < last; arg++) {
        uint32_t place = bytes ? pt_argument(p, call, (int)arg) : subject_of(p, call, e, arg);
        struct use use = {
            .kind = USE_STORE, .node = value, .bytes = bytes ? bytes : RH_POINTER_BYTES};
        if (place != NO_NODE && value != NO_NODE)
            pt_add_use(p, place, &use);
    }
}

/* The number a value is, also where a wrapper was made for a call that gives it; 0 if unknown. */
static uint64_t number_of(const struct rh_pointsto *p, uint32_t instance, const struct rh_value *v)
{
    while (v->kind == RH_VALUE_ARG && p->instances.data[instance].public.call &&
           !p->instances.data[instance].is_entry) {
        const struct rh_instance *in = &p->instances.data[instance].public;
        uint32_t position = v->id - in->fn->args[0]->id;
        if (position >= in->call->op_count)
            return 0;
        v = in->call->ops[position];
        instance = in->caller;
    }
    return v->kind == RH_VALUE_INT && v->num > 0 ? (uint64_t)v->num : 0;
}

static uint64_t allocated_bytes(const struct rh_pointsto *p, uint32_t call,
                                const struct rh_effect *e)
{
    const struct rh_value *inst = p->calls.data[call].inst;
    uint32_t instance = p->calls.data[call].instance;
    if (e->length < 0 || (uint32_t)e->length >= inst->op_count)
        return e->bytes;
    uint64_t bytes = number_of(p, instance, inst->ops[e->length]);
    if (e->scale >= 0 && (uint32_t)e->scale < inst->op_count)
        bytes *= number_of(p, instance, inst->ops[e->scale]);
    return bytes;
}

/* What the variables that hold the value, or hold it after a choice of several, are declared to
 * point to; NULL if nothing, or if they disagree. */
static const struct rh_type *type_behind(const struct rh_pointsto *p, const struct rh_value *v,
                                         unsigned depth)
{
    enum { DEEPEST = 3 };
    const struct rh_type *type = rh_layout_behind(p->layouts, v);
    for (uint32_t i = 0; !type && depth < DEEPEST && i < v->user_count; i++) {
        const struct rh_value *user = v->users[i];
        if (user->kind == RH_VALUE_INST && (user->op == RH_OP_PHI || user->op == RH_OP_SELECT))
            type = type_behind(p, user, depth + 1);
    }
    return type;
}

/* What the program declares the block to be, in the allocating function or in those it is a wrapper
 * for. */
static const struct rh_type *declared_type(const struct rh_pointsto *p, uint32_t call)
{
    const struct rh_value *v = p->calls.data[call].inst;
    uint32_t instance = p->calls.data[call].instance;
    for (;;) {
        const struct rh_type *type = type_behind(p, v, 0);
        const struct instance *in = &p->instances.data[instance];
        if (type || !in->public.call || in->is_entry)
            return type;
        v = in->public.call;
        instance = in->public.caller;
    }
}

/* Is the number a multiple of the size by its making: a constant, or a count times one? */
static bool is_multiple(const struct rh_value *v, uint64_t size)
{
    const struct rh_value *by = v->op_count > 1 ? v->ops[1] : NULL;
    if (v->kind == RH_VALUE_INT)
        return v->num > 0 && (uint64_t)v->num % size == 0;
    if (v->kind != RH_VALUE_INST || !by || by->kind != RH_VALUE_INT || by->num <= 0)
        return false;
    if (v->op == RH_OP_SHL)
        return by->num < 63 && ((uint64_t)1 << by->num) % size == 0;
    return v->op == RH_OP_MUL && (uint64_t)by->num % size == 0;
}

/* Was the block made for values of the type and nothing else? A pool hands out what it declares as
 * links of its list for anything, but then it does not ask for as much as a link takes. */
static bool is_made_for(const struct rh_pointsto *p, uint32_t call, const struct rh_effect *e,
                        uint64_t bytes, uint64_t size)
{
    const struct rh_value *inst = p->calls.data[call].inst;
    if (bytes)
        return bytes % size == 0;
    for (int i = 0; i < 2; i++) {
        int arg = i ? e->scale : e->length;
        if (arg >= 0 && (uint32_t)arg < inst->op_count && is_multiple(inst->ops[arg], size))
            return true;
    }
    return false;
}

/* Where the last member of a type ends, padding left out. */
static uint64_t end_of_members(const struct rh_type *t)
{
    uint64_t end = 0;
    if (t->kind != RH_TYPE_STRUCT || !t->count)
        return t->alloc_size;
    for (uint64_t i = 0; i < t->count; i++) {
        uint64_t last = t->offsets[i] + end_of_members(t->elems[i]);
        end = last > end ? last : end;
    }
    return end;
}

/* May a block of so many bytes be what is declared? What a variable of a class with virtual
 * functions points to may be of a class derived from it, which puts members of its own behind the
 * base's or into the padding at the base's end. */
static bool may_be_declared(const struct rh_type *declared, uint64_t size)
{
    if (declared->is_polymorphic)
        return size == declared->alloc_size && end_of_members(declared) == size;
    return !size || size >= declared->alloc_size;
}

static uint32_t allocate(struct rh_pointsto *p, uint32_t call, const struct rh_effect *e)
{
    uint32_t instance = p->calls.data[call].instance;
    uint32_t object = pt_add_object(p, RH_OBJECT_HEAP, p->calls.data[call].inst, instance,
                                    allocated_bytes(p, call, e));
    const struct rh_type *type = declared_type(p, call);
    uint64_t size = p->objects.data[object].public.size;
    if (type && may_be_declared(type, size)) {
        p->objects.data[object].type = type;
        p->objects.data[object].keeps_type = is_made_for(p, call, e, size, type->alloc_size);
    }
    uint32_t node = pt_make_pointer(p, object);
    if (e->from.inside)
        pt_store(p, inside(p, node), node);
    return node;
}

static uint64_t copied_bytes(const struct rh_pointsto *p, uint32_t call, const struct rh_effect *e)
{
    const struct rh_value *inst = p->calls.data[call].inst;
    if (e->bytes)
        return e->bytes;
    if (e->length < 0 || e->scale != RH_NO_ARG || (uint32_t)e->length >= inst->op_count)
        return UINT64_MAX;
    const struct rh_value *length = inst->ops[e->length];
    return length->kind == RH_VALUE_INT && length->num >= 0 ? (uint64_t)length->num : UINT64_MAX;
}

static void apply_copy(struct rh_pointsto *p, uint32_t call, const struct rh_effect *e)
{
    uint32_t to =
        e->arg == RH_NO_ARG ? pt_result(p, call) : subject_of(p, call, e, (uint32_t)e->arg);
    uint32_t from = value_of(p, call, &e->from);
    if (e->from.inside) { /* moved about: every word may end up in every other */
        to = inside(p, to);
        pt_store(p, to, pt_load(p, from));
        return;
    }
    pt_copy_memory(p, to, from, copied_bytes(p, call, e));
}

/* The nodes that are reached from the given ones through a node's first bytes. */
static uint32_t reach(struct rh_pointsto *p, uint32_t from, uint32_t bytes)
{
    uint32_t all = pt_add_node(p);
    pt_flow(p, from, all);
    pt_add_use(p, all, &(struct use){.kind = USE_LOAD, .node = all, .bytes = bytes});
    return all;
}

static void apply_link(struct rh_pointsto *p, uint32_t call, const struct rh_effect *e)
{
    uint32_t given = pt_add_node(p);
    pt_flow(p, subject_of(p, call, e, (uint32_t)e->arg), given);
    for (uint32_t i = 0; i < e->param_count; i++)
        pt_flow(p, value_of(p, call, &e->params[i]), given);
    uint32_t all = reach(p, given, e->bytes);
    pt_add_use(p, all, &(struct use){.kind = USE_STORE, .node = all, .bytes = e->bytes});
}

/* Messages that hand a pointer to another thread are short and of a length that is known. What is
 * longer is data, and to look for pointers in it would mix up all that the program ever sends. */
static void apply_message(struct rh_pointsto *p, uint32_t call, const struct rh_effect *e)
{
    enum { LONGEST = 256 };
    bool sends = e->kind == RH_EFFECT_SEND;
    uint64_t bytes = copied_bytes(p, call, e);
    uint32_t place = subject_of(p, call, e, (uint32_t)e->arg);
    if (place == NO_NODE || bytes < RH_POINTER_BYTES || (sends && bytes > LONGEST))
        return;
    struct use use = {.kind = sends ? USE_LOAD : USE_STORE,
                      .node = p->sent,
                      .bytes = (uint32_t)(bytes < LONGEST ? bytes : LONGEST)};
    pt_add_use(p, place, &use);
}

static void apply_effect(struct rh_pointsto *p, uint32_t call, struct rh_value *fn,
                         const struct rh_effect *e)
{
    switch (e->kind) {
    case RH_EFFECT_COPY:
        apply_copy(p, call, e);
        break;
    case RH_EFFECT_ALLOC:
        hand_over(p, call, e, allocate(p, call, e));
        break;
    case RH_EFFECT_STATIC:
        hand_over(p, call, e, pt_make_pointer(p, library_object(p, fn, RH_OBJECT_LIBRARY)));
        break;
    case RH_EFFECT_OWN:
        hand_over(p, call, e, pt_make_pointer(p, library_object(p, fn, RH_OBJECT_OWN)));
        break;
    case RH_EFFECT_RETURN:
        pt_flow(p, value_of(p, call, &e->from), pt_result(p, call));
        break;
    case RH_EFFECT_PUT:
        hand_over(p, call, e, value_of(p, call, &e->from));
        break;
    case RH_EFFECT_KEEP:
        pt_flow(p, subject_of(p, call, e, (uint32_t)e->arg), p->kept);
        break;
    case RH_EFFECT_GIVE:
        hand_over(p, call, e, e->from.inside ? inside(p, p->kept) : p->kept);
        break;
    case RH_EFFECT_THREAD_KEEP:
        pt_flow(p, subject_of(p, call, e, (uint32_t)e->arg), p->own_kept);
        break;
    case RH_EFFECT_THREAD_GIVE:
        hand_over(p, call, e, p->own_kept);
        break;
    case RH_EFFECT_SEND:
    case RH_EFFECT_RECEIVE:
        apply_message(p, call, e);
        break;
    case RH_EFFECT_LINK:
        apply_link(p, call, e);
        break;
    case RH_EFFECT_WALK:
        pt_flow(p, reach(p, subject_of(p, call, e, (uint32_t)e->arg), e->bytes),
                pt_result(p, call));
        break;
    default:
        break;
    }
}

/* --- callbacks --- */

/* std::thread's state: the first word leads to a table whose third entry is run, and whose second
 * destroys the state in the new thread. */
static uint32_t virtual_entry(struct rh_pointsto *p, uint32_t state)
{
    uint32_t table = pt_load(p, state);
    if (table == NO_NODE)
        return NO_NODE;
    uint32_t entries = pt_add_node(p);
    for (int slot = 1; slot <= 2; slot++) {
        uint32_t place = pt_add_node(p);
        pt_add_shift_edge(p, table, place, &(struct shift){.offset = slot * RH_POINTER_BYTES});
        pt_flow(p, pt_load(p, place), entries);
    }
    return entries;
}

/* The function that the effect is about. */
static uint32_t function_given(struct rh_pointsto *p, uint32_t call, const struct rh_effect *e)
{
    const struct call *c = &p->calls.data[call];
    bool is_plain = e->arg >= 0 && (uint32_t)e->arg < c->inst->op_count && !e->indirect;
    return is_plain && !e->inside ? pt_guided(p, c->instance, c->inst->ops[e->arg])
                                  : subject_of(p, call, e, (uint32_t)e->arg);
}

/* Effects that call a function of the program's, at once or later. */
static void apply_callback(struct rh_pointsto *p, uint32_t call, const struct rh_effect *e)
{
    struct use use = {.kind = USE_LIBRARY, .node = NO_NODE, .call = call, .effect = e};
    uint32_t entry;
    switch (e->kind) {
    case RH_EFFECT_CALL:
    case RH_EFFECT_LATER:
    case RH_EFFECT_ONCE:
        entry = function_given(p, call, e);
        break;
    case RH_EFFECT_THREAD:
    case RH_EFFECT_TEAM:
    case RH_EFFECT_HANDLER:
        use.kind = USE_START;
        entry = function_given(p, call, e);
        break;
    case RH_EFFECT_VIRTUAL_THREAD:
        use.kind = USE_START;
        use.node = pt_load(p, pt_argument(p, call, e->arg));
        entry = virtual_entry(p, use.node);
        break;
    default:
        return;
    }
    if (entry != NO_NODE)
        pt_add_use(p, entry, &use);
}

void pt_connect_library(struct rh_pointsto *p, uint32_t call, struct rh_value *fn,
                        const struct rh_library_row *row)
{
    rh_vec_push(&p->calls.data[call].libraries, row);
    for (uint32_t i = 0; i < row->effect_count; i++) {
        apply_effect(p, call, fn, &row->effects[i]);
        apply_callback(p, call, &row->effects[i]);
        /* What was kept to be called later runs here, as it would in an unknown function. */
        p->calls.data[call].unknown |= row->effects[i].kind == RH_EFFECT_RUNS;
    }
}

/* What a function is called back with: the values that the effect lists, then perhaps the rest of
 * the call's arguments. */
static void pass_parameters(struct rh_pointsto *p, const struct use *use, struct rh_function *fn,
                            uint32_t target)
{
    const struct rh_effect *e = use->effect;
    for (uint32_t i = 0; i < fn->arg_count; i++) {
        struct rh_effect_arg value;
        if (i < e->param_count)
            value = e->params[i];
        else if (e->param_count && e->params[e->param_count - 1].rest)
            value = (struct rh_effect_arg){
                .arg = (int8_t)(e->params[e->param_count - 1].arg + (int)(i - e->param_count) + 1)};
        else
            return;
        pt_flow(p, value_of(p, use->call, &value), pt_def_of(p, target, fn->args[i]));
    }
}

/* libstdc++'s function for pthread_once calls what std::call_once has left in a variable. */
static void call_once_proxy(struct rh_pointsto *p, const struct use *use)
{
    struct rh_value *v = rh_ir_find_global(p->module, "_ZSt11__once_call");
    if (v)
        pt_add_use(p, pt_load(p, pt_make_pointer(p, pt_object_of(p, v))), use);
}

void pt_connect_callback(struct rh_pointsto *p, const struct use *use, struct rh_function *fn)
{
    const struct rh_effect *e = use->effect;
    if (!fn->block_count && strcmp(fn->name, "__once_proxy") == 0)
        call_once_proxy(p, use);
    if (!fn->block_count)
        return;
    uint32_t target =
        use->kind == USE_START ? pt_entry_instance(p, fn, use->call) : pt_base_instance(p, fn);
    if (use->node != NO_NODE && fn->arg_count)
        pt_flow(p, use->node, pt_def_of(p, target, fn->args[0]));
    pass_parameters(p, use, fn, target);
    pt_flow(p, p->instances.data[target].result, p->kept);
    if (use->kind == USE_START)
        rh_idset_add(&p->calls.data[use->call].entries, target);
    else if (e->kind == RH_EFFECT_LATER)
        rh_idset_add(&p->called_from_outside, target);
    else
        rh_idset_add(&p->calls.data[use->call].targets, target);
}
