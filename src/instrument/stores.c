/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the places that may store a pointer: see stores.h. */
#include "instrument/stores.h"

#include <stdlib.h>
#include <string.h>

#include "base/bitset.h"
#include "base/mem.h"

enum { WORD = 8, MOST_LANES = 16 };

struct finder {
    const struct rh_analysis *analysis;
    bool is_known;
    bool has_weak_loads;          /* atomic loads of pointers' size that do not acquire */
    struct rh_bitset returns_out; /* functions, by id, whose result code of others gets */
    struct rh_stores *out;
};

/* --- what is needless --- */

/* May a value of this type hold a pointer? */
static bool may_carry(const struct rh_type *type)
{
    return type->kind == RH_TYPE_PTR || type->size >= WORD;
}

static bool is_constant(const struct rh_value *v)
{
    return v->kind == RH_VALUE_INT || v->kind == RH_VALUE_NULL || v->kind == RH_VALUE_UNDEF ||
           v->kind == RH_VALUE_FP || v->kind == RH_VALUE_DATA || v->kind == RH_VALUE_FUNCTION ||
           (v->kind == RH_VALUE_GLOBAL && !v->global->is_thread_local);
}

/* Is it private to a thread at first, and may others come to reach it? */
static bool may_escape(const struct finder *f, uint32_t object)
{
    enum rh_object_kind kind = rh_pointsto_object(f->analysis->pointsto, object)->kind;
    return (kind == RH_OBJECT_HEAP || kind == RH_OBJECT_STACK || kind == RH_OBJECT_THREAD_LOCAL) &&
           rh_escape_is_shared(f->analysis->escape, object);
}

static bool any_may_escape(const struct finder *f, const struct rh_idset *cells)
{
    uint32_t cell;
    for (uint64_t at = 0; rh_idset_next(cells, &at, &cell);)
        if (may_escape(f, rh_pointsto_cell(f->analysis->pointsto, cell)->object))
            return true;
    return false;
}

static bool any_is_shared(const struct finder *f, const struct rh_idset *cells)
{
    uint32_t cell;
    for (uint64_t at = 0; rh_idset_next(cells, &at, &cell);)
        if (rh_escape_is_shared(f->analysis->escape,
                                rh_pointsto_cell(f->analysis->pointsto, cell)->object))
            return true;
    return false;
}

/* In any instance of the function. */
static bool ask(const struct finder *f, const struct rh_function *fn, const struct rh_value *v,
                bool (*question)(const struct finder *, const struct rh_idset *))
{
    uint32_t count;
    const uint32_t *instances = rh_pointsto_instances_of(f->analysis->pointsto, fn, &count);
    for (uint32_t i = 0; i < count; i++)
        if (question(f, rh_pointsto_of(f->analysis->pointsto, instances[i], v)))
            return true;
    return false;
}

static bool value_matters(const struct finder *f, const struct rh_function *fn,
                          const struct rh_value *v)
{
    return !is_constant(v) && (f->is_known ? ask(f, fn, v, any_may_escape) : may_carry(v->type));
}

/* What the memory holds may escape. */
static bool holds_what_may_escape(const struct finder *f, const struct rh_idset *cells)
{
    uint32_t cell;
    bool found = false;
    for (uint64_t at = 0; !found && rh_idset_next(cells, &at, &cell);) {
        struct rh_idset held = RH_IDSET_INIT;
        rh_pointsto_held(f->analysis->pointsto, cell, 0, &held);
        found = any_may_escape(f, &held);
        rh_idset_release(&held);
    }
    return found;
}

static bool place_matters(const struct finder *f, const struct rh_value *inst,
                          struct rh_value *address)
{
    if (!address || !f->is_known)
        return true;
    return ask(f, inst->fn, address, any_is_shared) &&
           !rh_escape_is_fresh(f->analysis->escape, inst, address);
}

/* --- what is racy --- */

static bool is_weak_load(const struct rh_access *a)
{
    return (a->kind == RH_ACCESS_ATOMIC_READ || a->kind == RH_ACCESS_ATOMIC_UPDATE) &&
           a->size >= WORD && !a->acquires;
}

static bool is_racy_access(const struct finder *f, const struct rh_access *a)
{
    if (!rh_access_writes(a))
        return false;
    if (rh_access_is_atomic(a))
        return f->has_weak_loads || a->order < RH_MO_RELEASE;
    return rh_access_is_site(a);
}

static bool is_racy(const struct finder *f, const struct rh_value *inst)
{
    const struct rh_accesses *all = &f->analysis->accesses;
    uint32_t low = all->first_of[inst->fn->id], end = all->first_of[inst->fn->id + 1], high = end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (all->all.data[middle].inst->id < inst->id)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < end && all->all.data[low].inst == inst; low++)
        if (is_racy_access(f, &all->all.data[low]))
            return true;
    return false;
}

/* --- adding --- */

static void add(struct finder *f, const struct rh_store *store)
{
    uint64_t known;
    if (!rh_map_get(&f->out->first_of, store->inst->id, &known))
        rh_map_put(&f->out->first_of, store->inst->id, f->out->all.len);
    rh_vec_push(&f->out->all, *store);
    rh_vec_last(&f->out->all).is_racy = is_racy(f, store->inst);
}

/* A value that was found to matter. What is no multiple of a word may be a part of one, and what
 * has too many parts is looked at when it is there. */
static void add_parts(struct finder *f, struct rh_value *inst, struct rh_value *address,
                      struct rh_value *value)
{
    const struct rh_type *type = value->type;
    struct rh_store store = {
        .inst = inst, .place = inst, .kind = RH_ESCAPE_STORE, .address = address, .value = value};
    bool is_aggregate = type->kind == RH_TYPE_STRUCT || type->kind == RH_TYPE_ARRAY;
    uint64_t lanes = type->kind == RH_TYPE_PTR ? 1 : type->size / WORD;
    if (type->kind != RH_TYPE_PTR && (is_aggregate || type->size % WORD || lanes > MOST_LANES)) {
        if (!address)
            return;
        store.kind = type->size < WORD ? RH_ESCAPE_WORD : RH_ESCAPE_COPY;
        store.after = true;
        store.value = type->size < WORD ? NULL : address;
        store.bytes = type->size < WORD ? 0 : (uint32_t)type->size;
        add(f, &store);
        return;
    }
    store.lanes = (uint32_t)lanes;
    for (store.lane = 0; store.lane < lanes; store.lane++)
        add(f, &store);
}

static void add_value(struct finder *f, struct rh_value *inst, struct rh_value *address,
                      struct rh_value *value)
{
    if (is_constant(value) || (!address && !may_carry(value->type)))
        return;
    if (value_matters(f, inst->fn, value) && place_matters(f, inst, address))
        add_parts(f, inst, address, value);
    else if (may_carry(value->type))
        f->out->needless++;
}

/* Everything in `length` bytes; without a length, all that the source points to goes with it. */
static void add_copy(struct finder *f, struct rh_value *inst, struct rh_value *address,
                     struct rh_value *from, struct rh_value *length, uint64_t bytes)
{
    if (length && length->kind == RH_VALUE_INT)
        bytes = (uint64_t)length->num;
    bool is_sized = (length && length->kind != RH_VALUE_INT) || bytes;
    bool matters = f->is_known ? ask(f, inst->fn, from, holds_what_may_escape) : !is_constant(from);
    if (!matters || !place_matters(f, inst, address)) {
        f->out->needless++;
        return;
    }
    if (!is_sized || bytes > UINT32_MAX) {
        add_value(f, inst, NULL, from);
        return;
    }
    struct rh_store store = {.inst = inst, .place = inst, .lanes = 1};
    if (length && length->kind != RH_VALUE_INT) {
        store.kind = RH_ESCAPE_LENGTH;
        store.value = length;
        add(f, &store);
    }
    store.kind = RH_ESCAPE_COPY;
    store.address = address;
    store.value = from;
    store.bytes = (uint32_t)bytes;
    add(f, &store);
}

/* --- calls --- */

static struct rh_value *argument(const struct rh_value *call, int arg)
{
    return arg >= 0 && (uint32_t)arg < call->op_count ? call->ops[arg] : NULL;
}

static void hand_over(struct finder *f, struct rh_value *call, int arg, bool rest)
{
    for (uint32_t i = arg < 0 ? 0 : (uint32_t)arg; i < call->op_count; i++) {
        add_value(f, call, NULL, call->ops[i]);
        if (!rest)
            return;
    }
}

static void hand_over_params(struct finder *f, struct rh_value *call, const struct rh_effect *e)
{
    for (uint8_t i = 0; i < e->param_count; i++)
        if (e->params[i].arg >= 0)
            hand_over(f, call, e->params[i].arg, e->params[i].rest);
}

/* Where an allocation is told: behind it, which for one that may throw is where it goes on. */
static void add_allocation(struct finder *f, struct rh_value *call, struct rh_value *size,
                           struct rh_value *times, bool is_realloc)
{
    struct rh_store store = {.inst = call,
                             .place = call,
                             .lanes = 1,
                             .after = true,
                             .kind = is_realloc ? RH_ESCAPE_REALLOC : RH_ESCAPE_ALLOC,
                             .address = call,
                             .value = size,
                             .times = times};
    if (call->op == RH_OP_INVOKE) {
        struct rh_block *next = call->block->succs[0];
        if (next->pred_count != 1 || next->first->op == RH_OP_PHI)
            return;
        store.place = next->first;
        store.after = false;
    }
    if (call->op == RH_OP_CALLBR)
        return;
    add(f, &store);
}

/* Mappings are not taken back by free, and may be shared. */
static bool is_of_heap(const struct rh_library_row *row)
{
    return strcmp(row->name, "mmap") != 0 && strcmp(row->name, "mmap64") != 0;
}

static bool frees(const struct rh_library_row *row)
{
    for (uint32_t i = 0; i < row->effect_count; i++)
        if (row->effects[i].kind == RH_EFFECT_FREE)
            return true;
    return false;
}

static void read_effect(struct finder *f, struct rh_value *call, const struct rh_library_row *row,
                        const struct rh_effect *e)
{
    struct rh_value *place = argument(call, e->arg), *from = argument(call, e->from.arg);
    struct rh_value *length = argument(call, e->length), *scale = argument(call, e->scale);
    switch (e->kind) {
    case RH_EFFECT_ALLOC:
        if (e->arg == RH_NO_ARG && length && is_of_heap(row) && call->type->kind == RH_TYPE_PTR)
            add_allocation(f, call, length, scale, frees(row));
        break;
    case RH_EFFECT_COPY: /* within one block, or to a new one, nothing is handed on */
        if (place && from && place != from)
            add_copy(f, call, e->indirect ? NULL : place, from, scale ? NULL : length, e->bytes);
        break;
    case RH_EFFECT_PUT:
        if (from)
            add_value(f, call, e->indirect ? NULL : place, from);
        break;
    case RH_EFFECT_SEND:
        if (place)
            add_copy(f, call, NULL, place, length, e->bytes);
        break;
    case RH_EFFECT_VIRTUAL_THREAD:
        if (place)
            add_copy(f, call, NULL, place, NULL, WORD);
        break;
    case RH_EFFECT_KEEP:
    case RH_EFFECT_THREAD_KEEP:
    case RH_EFFECT_LATER:
    case RH_EFFECT_THREAD:
    case RH_EFFECT_HANDLER:
    case RH_EFFECT_TEAM:
    case RH_EFFECT_LINK:
        hand_over(f, call, e->arg, e->rest);
        hand_over_params(f, call, e);
        break;
    default:
        break;
    }
}

struct called {
    bool unknown;
    uint32_t count;
    const struct rh_library_row *rows[8];
};

static void note_row(struct called *c, const struct rh_library_row *row)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->rows[i] == row)
            return;
    if (c->count < sizeof c->rows / sizeof c->rows[0])
        c->rows[c->count++] = row;
    else
        c->unknown = true;
}

/* Without an analysis a call through a pointer may be of anything. */
static struct called whom(const struct finder *f, const struct rh_value *call)
{
    struct called c = {0};
    uint32_t count = 0;
    const uint32_t *instances =
        f->is_known ? rh_pointsto_instances_of(f->analysis->pointsto, call->fn, &count) : NULL;
    if (!f->is_known) {
        const struct rh_value *callee = call->callee;
        const struct rh_library_row *row =
            callee->kind == RH_VALUE_FUNCTION ? rh_library_find(callee->fn->name) : NULL;
        c.unknown = callee->kind != RH_VALUE_FUNCTION || (!callee->fn->block_count && !row);
        if (row && !callee->fn->block_count)
            note_row(&c, row);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct rh_call_targets targets =
            rh_pointsto_call(f->analysis->pointsto, instances[i], call);
        c.unknown |= targets.unknown;
        for (uint32_t k = 0; k < targets.library_count; k++)
            note_row(&c, targets.libraries[k]);
    }
    return c;
}

static void read_intrinsic(struct finder *f, struct rh_value *call)
{
    const char *name = call->intrinsic;
    if (strncmp(name, "llvm.memcpy", 11) == 0 || strncmp(name, "llvm.memmove", 12) == 0)
        add_copy(f, call, call->ops[0], call->ops[1], call->ops[2], 0);
    else if (strncmp(name, "llvm.va_copy", 12) == 0)
        add_copy(f, call, call->ops[0], call->ops[1], NULL, 24);
    else if (strcmp(name, "llvm.masked.store") == 0 || strcmp(name, "llvm.masked.scatter") == 0 ||
             strcmp(name, "llvm.masked.compressstore") == 0)
        add_value(f, call, NULL, call->ops[0]);
}

static void read_call(struct finder *f, struct rh_value *call)
{
    if (call->intrinsic) {
        read_intrinsic(f, call);
        return;
    }
    if (call->callee->kind == RH_VALUE_ASM) {
        if (!call->no_memory)
            hand_over(f, call, 0, true);
        return;
    }
    struct called c = whom(f, call);
    if (c.unknown)
        hand_over(f, call, 0, true);
    for (uint32_t r = 0; r < c.count; r++)
        for (uint32_t e = 0; e < c.rows[r]->effect_count; e++)
            read_effect(f, call, c.rows[r], &c.rows[r]->effects[e]);
}

/* --- functions --- */

static void read_instruction(struct finder *f, struct rh_value *inst)
{
    switch (inst->op) {
    case RH_OP_STORE:
        add_value(f, inst, inst->ops[1], inst->ops[0]);
        break;
    case RH_OP_RMW:
        add_value(f, inst, inst->ops[0], inst->ops[1]);
        break;
    case RH_OP_CMPXCHG:
        add_value(f, inst, inst->ops[0], inst->ops[2]);
        break;
    case RH_OP_CALL:
    case RH_OP_INVOKE:
    case RH_OP_CALLBR:
        read_call(f, inst);
        break;
    case RH_OP_RET:
        if (inst->op_count && (!f->is_known || rh_bitset_test(&f->returns_out, inst->fn->id)))
            add_value(f, inst, NULL, inst->ops[0]);
        break;
    default:
        break;
    }
}

static void note_returning(struct finder *f, uint32_t instance)
{
    rh_bitset_set(&f->returns_out, rh_pointsto_instance(f->analysis->pointsto, instance)->fn->id);
}

/* Functions that threads begin with, and those that unknown code may call. */
static void find_returning(struct finder *f)
{
    uint32_t count, entry;
    const uint32_t *outside = rh_pointsto_called_from_outside(f->analysis->pointsto, &count);
    for (uint32_t i = 0; i < count; i++)
        note_returning(f, outside[i]);
    for (uint32_t t = 0; t < rh_flow_thread_count(f->analysis->flow); t++) {
        const struct rh_idset *entries = &rh_flow_thread(f->analysis->flow, t)->entries;
        for (uint64_t at = 0; rh_idset_next(entries, &at, &entry);)
            note_returning(f, entry);
    }
}

static bool can_instrument(const struct rh_function *fn)
{
    return fn->block_count && !fn->is_naked;
}

void rh_stores_find(struct rh_module *m, const struct rh_analysis *analysis, bool is_known,
                    struct rh_stores *out)
{
    struct finder f = {.analysis = analysis, .is_known = is_known, .out = out};
    memset(out, 0, sizeof *out);
    if (is_known)
        find_returning(&f);
    rh_vec_each (const struct rh_access, a, &analysis->accesses.all)
        f.has_weak_loads |= is_weak_load(a);
    for (uint32_t i = 0; i < rh_ir_function_count(m); i++) {
        const struct rh_function *fn = rh_ir_function(m, i);
        for (uint32_t b = 0; can_instrument(fn) && b < fn->block_count; b++)
            for (struct rh_value *inst = fn->blocks[b]->first; inst; inst = inst->next)
                read_instruction(&f, inst);
    }
    rh_bitset_release(&f.returns_out);
}

void rh_stores_release(struct rh_stores *s)
{
    rh_vec_free(&s->all);
    rh_map_release(&s->first_of);
}

const struct rh_store *rh_stores_of(const struct rh_stores *s, const struct rh_value *inst,
                                    uint32_t *count)
{
    uint64_t first;
    *count = 0;
    if (!rh_map_get(&s->first_of, inst->id, &first))
        return NULL;
    while (first + *count < s->all.len && s->all.data[first + *count].inst == inst)
        ++*count;
    return &s->all.data[first];
}

bool rh_stores_has(const struct rh_stores *s, const struct rh_function *fn)
{
    size_t low = 0, high = s->all.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->all.data[middle].inst->fn->id < fn->id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->all.len && s->all.data[low].inst->fn == fn;
}
