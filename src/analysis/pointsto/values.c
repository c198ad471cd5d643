/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of values and the constraints of instructions, for the points-to analysis. */
#include <string.h>

#include "analysis/pointsto/internal.h"
#include "ir/graph/nonnegative.h"

static const struct shift anywhere = {.stride = 1, .down = true};

/* May a value of this type hold a pointer? Integers may: memory is copied through them. */
bool pt_may_carry(const struct rh_type *type)
{
    switch (type->kind) {
    case RH_TYPE_PTR:
        return true;
    case RH_TYPE_INT:
        return type->bits >= 64;
    case RH_TYPE_ARRAY:
    case RH_TYPE_VECTOR:
        return type->count && pt_may_carry(type->elems[0]);
    case RH_TYPE_STRUCT:
        for (uint64_t i = 0; i < type->count; i++)
            if (pt_may_carry(type->elems[i]))
                return true;
        return false;
    default:
        return false;
    }
}

/* --- pieces --- */

/* Less than a pointer: a loop that copies bytes moves pointers, too. */
static bool is_piece(const struct rh_type *type)
{
    if (type->kind == RH_TYPE_VECTOR)
        return type->count && is_piece(type->elems[0]);
    return type->kind == RH_TYPE_FLOAT || (type->kind == RH_TYPE_INT && type->bits >= 8);
}

static bool hands_on(enum rh_op op)
{
    return op == RH_OP_PHI || op == RH_OP_SELECT || op == RH_OP_FREEZE || op == RH_OP_BITCAST ||
           op == RH_OP_SHUFFLEVECTOR || op == RH_OP_INSERTELEMENT || op == RH_OP_EXTRACTELEMENT;
}

/* Is the value stored as it is, where the language allows it to be a part of anything? */
static bool is_stored(const struct rh_value *v, unsigned depth)
{
    enum { DEEPEST = 3 };
    for (uint32_t i = 0; i < v->user_count; i++) {
        const struct rh_value *user = v->users[i];
        if (user->kind != RH_VALUE_INST)
            continue;
        if (user->op == RH_OP_STORE && user->ops[0] == v && !user->tag)
            return true;
        if (hands_on(user->op) && depth < DEEPEST && is_stored(user, depth + 1))
            return true;
    }
    return false;
}

/* May it be a piece of a pointer that is copied piece by piece? What is computed with is none. */
static bool is_copied_piece(const struct rh_value *v)
{
    if (v->kind != RH_VALUE_INST || !is_piece(v->type))
        return false;
    return ((v->op == RH_OP_LOAD && !v->tag) || hands_on(v->op)) && is_stored(v, 0);
}

/* --- shifts --- */

enum { MOST_TERMS = 4 };

/* What a getelementptr does, one index after the other; the first array bounds the others, whose
 * own bounds hold within its elements. */
static uint32_t shifts_of(const struct rh_gep *gep, struct shift out[MOST_TERMS])
{
    int64_t before = 0;
    out[0] = (struct shift){.offset = gep->offset, .loose = gep->is_loose};
    if (gep->unknown || gep->term_count > MOST_TERMS) {
        out[0] = anywhere;
        return 1;
    }
    for (uint32_t i = 0; i < gep->term_count; i++) {
        const struct rh_gep_term *t = &gep->terms[i];
        out[i] = (struct shift){
            .offset = t->start - before,
            .stride = t->scale < 0 ? -(uint64_t)t->scale : (uint64_t)t->scale,
            .start = t->start - before,
            .extent = t->extent,
            .below = t->is_pointer && !rh_nonnegative_holds(t->index),
            .by_elements = t->is_pointer && (gep->source->kind == RH_TYPE_STRUCT ||
                                             gep->source->kind == RH_TYPE_ARRAY),
        };
        before = t->start;
    }
    if (!gep->term_count)
        return 1;
    out[gep->term_count - 1].offset += gep->offset - before;
    return gep->term_count;
}

/* Lets `to` get what `from` holds, moved as the getelementptr says. */
static void add_gep_edges(struct rh_pointsto *p, uint32_t from, uint32_t to,
                          const struct rh_gep *gep)
{
    struct shift shifts[MOST_TERMS];
    uint32_t count = shifts_of(gep, shifts);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t next = i + 1 == count ? to : pt_add_single(p);
        pt_add_shift_edge(p, from, next, &shifts[i]);
        from = next;
    }
}

/* --- constants --- */

static uint32_t make_constant(struct rh_pointsto *p, struct rh_value *v);

static uint32_t constant_node(struct rh_pointsto *p, struct rh_value *v)
{
    uint64_t known;
    if (rh_map_get(&p->constants, v->id, &known))
        return (uint32_t)known;
    rh_map_put(&p->constants, v->id, NO_NODE); /* constants are no cycles, globals are by address */
    uint32_t node = make_constant(p, v);
    rh_map_put(&p->constants, v->id, node);
    return node;
}

/* The linker's names for where a section begins and ends: all that lies in it. */
static void add_section(struct rh_pointsto *p, uint32_t node, const struct rh_value *v)
{
    static const char *const names[] = {"__start_", "__stop_"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        size_t len = strlen(names[k]);
        if (strncmp(v->name, names[k], len) != 0)
            continue;
        for (uint32_t i = 0; i < rh_ir_global_count(p->module); i++) {
            struct rh_value *other = rh_ir_global(p->module, i);
            if (strcmp(other->global->section, v->name + len) != 0)
                continue;
            struct rh_cell any = {.object = pt_object_of(p, other), .stride = 1, .end = INT64_MAX};
            pt_add_cell(p, node, pt_cell(p, &any));
        }
    }
}

static uint32_t make_address(struct rh_pointsto *p, struct rh_value *v)
{
    uint32_t node = pt_add_node(p);
    struct rh_cell cell = {.object = pt_object_of(p, v), .end = INT64_MAX};
    pt_add_cell(p, node, pt_cell(p, &cell));
    if (v->kind == RH_VALUE_GLOBAL && v->global->is_declaration)
        add_section(p, node, v);
    return node;
}

/* The functions that one may stand for are what its resolver returns. */
static uint32_t make_ifunc(struct rh_pointsto *p, const struct rh_value *resolver)
{
    if (resolver->kind != RH_VALUE_FUNCTION || !resolver->fn->block_count)
        return NO_NODE;
    uint32_t node = pt_add_node(p), instance = pt_base_instance(p, resolver->fn);
    pt_add_copy_edge(p, p->instances.data[instance].result, node);
    return node;
}

static uint32_t make_constant(struct rh_pointsto *p, struct rh_value *v)
{
    if (v->kind == RH_VALUE_ALIAS && v->is_ifunc)
        return make_ifunc(p, v->ops[0]);
    if (v->kind == RH_VALUE_GLOBAL || v->kind == RH_VALUE_FUNCTION)
        return make_address(p, v);
    if (v->kind == RH_VALUE_ALIAS)
        return constant_node(p, v->ops[0]);
    if (v->kind != RH_VALUE_EXPR && v->kind != RH_VALUE_AGGREGATE)
        return NO_NODE;
    uint32_t node = NO_NODE;
    for (uint32_t i = 0; i < v->op_count; i++) {
        uint32_t from = v->gep && i ? NO_NODE : constant_node(p, v->ops[i]);
        if (from == NO_NODE)
            continue;
        if (node == NO_NODE)
            node = pt_add_node(p);
        bool moves = v->op == RH_OP_ADD || v->op == RH_OP_SUB || v->op == RH_OP_XOR;
        if (v->gep)
            add_gep_edges(p, from, node, v->gep);
        else if (v->kind == RH_VALUE_EXPR && moves)
            pt_add_shift_edge(p, from, node, &anywhere);
        else
            pt_add_copy_edge(p, from, node);
    }
    return node;
}

static void initialise(struct rh_pointsto *p, struct rh_value *v, struct rh_cell at)
{
    enum { MANY = 64 };
    struct rh_type *type = v->type;
    if (!pt_may_carry(type))
        return;
    if (v->kind != RH_VALUE_AGGREGATE) {
        uint32_t from = constant_node(p, v);
        uint32_t to = from == NO_NODE ? NO_NODE : pt_entry(p, pt_cell(p, &at));
        if (to != NO_NODE)
            pt_add_copy_edge(p, from, to);
        return;
    }
    for (uint32_t i = 0; i < v->op_count; i++) {
        struct rh_cell part = at;
        if (type->kind == RH_TYPE_STRUCT) {
            part.offset += (int64_t)type->offsets[i];
        } else if (v->op_count <= MANY) {
            part.offset += (int64_t)(i * type->elems[0]->alloc_size);
        } else {
            uint64_t stride = type->elems[0]->alloc_size;
            part.stride = (uint32_t)(at.stride ? pt_gcd(at.stride, stride) : stride);
            if (!at.stride)
                part.end = at.offset + (int64_t)(v->op_count * stride);
        }
        initialise(p, v->ops[i], part);
    }
}

bool pt_is_of_once(const char *name)
{
    return strcmp(name, "_ZSt15__once_callable") == 0 || strcmp(name, "_ZSt11__once_call") == 0;
}

/* A variable of a library's: it holds what libraries keep, and they may call what is stored in it.
 */
static void read_declaration(struct rh_pointsto *p, struct rh_value *v)
{
    static const struct rh_effect later = {.kind = RH_EFFECT_LATER};
    struct rh_cell whole = {.object = pt_object_of(p, v), .stride = 1, .end = INT64_MAX};
    uint32_t contents = pt_contents(p, pt_cell(p, &whole));
    uint32_t entry = pt_entry(p, pt_cell(p, &whole));
    uint32_t own = pt_add_object(p, RH_OBJECT_LIBRARY, v, RH_NO_INSTANCE, 0);
    struct rh_cell inside = {.object = own, .end = INT64_MAX};
    pt_add_cell(p, entry, pt_cell(p, &inside));
    pt_add_copy_edge(p, p->kept, entry);
    pt_add_use(p, contents, &(struct use){.kind = USE_LIBRARY, .node = NO_NODE, .effect = &later});
}

void pt_read_initialisers(struct rh_pointsto *p)
{
    for (uint32_t i = 0; i < rh_ir_global_count(p->module); i++) {
        struct rh_value *v = rh_ir_global(p->module, i);
        struct rh_cell cell = {.object = pt_object_of(p, v), .end = INT64_MAX};
        if (v->global->is_declaration && !p->objects.data[cell.object].public.is_const &&
            !pt_is_of_once(v->name))
            read_declaration(p, v);
        if (v->global->init && strncmp(v->name, "llvm.", 5) != 0)
            initialise(p, v->global->init, cell);
    }
}

/* --- values --- */

uint32_t pt_node_of(struct rh_pointsto *p, uint32_t instance, struct rh_value *v)
{
    if (!pt_may_carry(v->type) && !is_copied_piece(v))
        return NO_NODE;
    if (v->kind != RH_VALUE_INST && v->kind != RH_VALUE_ARG)
        return constant_node(p, v);
    struct instance *in = &p->instances.data[instance];
    uint32_t *slot = &in->nodes[v->id - in->first_value];
    bool single = v->kind == RH_VALUE_INST && (v->op == RH_OP_LOAD || v->op == RH_OP_GEP);
    if (*slot == NO_NODE)
        *slot = single ? pt_add_single(p) : pt_add_node(p);
    return *slot;
}

/* --- instructions --- */

struct reader {
    struct rh_pointsto *p;
    uint32_t instance;
};

static void flow(const struct reader *r, struct rh_value *from, struct rh_value *to)
{
    uint32_t a = pt_node_of(r->p, r->instance, from), b = pt_def_of(r->p, r->instance, to);
    if (a != NO_NODE && b != NO_NODE)
        pt_add_copy_edge(r->p, a, b);
}

static void flow_moved(const struct reader *r, struct rh_value *from, struct rh_value *to,
                       const struct shift *by)
{
    uint32_t a = pt_node_of(r->p, r->instance, from), b = pt_def_of(r->p, r->instance, to);
    if (a != NO_NODE && b != NO_NODE)
        pt_add_shift_edge(r->p, a, b, by);
}

/* A tag is about one scalar. */
static uint32_t tag_of(const struct rh_value *access)
{
    return access->access->size <= RH_POINTER_BYTES ? access->tag : 0;
}

static void read_memory(const struct reader *r, struct rh_value *access)
{
    uint32_t a = pt_node_of(r->p, r->instance, rh_ir_pointer(access)),
             b = pt_def_of(r->p, r->instance, access);
    if (a == NO_NODE || b == NO_NODE)
        return;
    if (rh_ir_tag_is_vtable(r->p->module, access->tag)) {
        uint32_t word = pt_add_node(r->p); /* nothing but tables of virtual functions is there */
        pt_add_use(r->p, word, &(struct use){.kind = USE_TABLE, .node = b});
        r->p->nodes.data[pt_find(r->p, b)].single = false;
        b = word;
    }
    pt_add_use(
        r->p, a,
        &(struct use){
            .kind = USE_LOAD, .node = b, .bytes = access->access->size, .tag = tag_of(access)});
}

static void write_memory(const struct reader *r, struct rh_value *access, struct rh_value *value)
{
    uint32_t a = pt_node_of(r->p, r->instance, rh_ir_pointer(access)),
             b = pt_node_of(r->p, r->instance, value);
    if (a != NO_NODE && b != NO_NODE)
        pt_add_use(r->p, a,
                   &(struct use){.kind = USE_STORE,
                                 .node = b,
                                 .bytes = access->access->size,
                                 .tag = tag_of(access)});
}

static void read_alloca(const struct reader *r, struct rh_value *v)
{
    uint64_t count = v->op_count && v->ops[0]->kind == RH_VALUE_INT ? (uint64_t)v->ops[0]->num : 0;
    uint64_t size = v->op_count ? v->access->alloc_size * count : v->access->alloc_size;
    uint32_t node = pt_def_of(r->p, r->instance, v);
    struct rh_cell cell = {.end = INT64_MAX};
    cell.object = pt_add_object(r->p, RH_OBJECT_STACK, v, r->instance, size);
    r->p->objects.data[cell.object].type = v->access;
    r->p->objects.data[cell.object].keeps_type = true;
    pt_add_cell(r->p, node, pt_cell(r->p, &cell));
}

static void read_load(const struct reader *r, struct rh_value *v)
{
    read_memory(r, v);
}

static void read_store(const struct reader *r, struct rh_value *v)
{
    write_memory(r, v, v->ops[0]);
}

static void read_rmw(const struct reader *r, struct rh_value *v)
{
    read_memory(r, v);
    write_memory(r, v, v->ops[1]);
}

static void read_cmpxchg(const struct reader *r, struct rh_value *v)
{
    read_memory(r, v);
    write_memory(r, v, v->ops[2]);
}

static bool is_op(const struct rh_value *v, enum rh_op op)
{
    return (v->kind == RH_VALUE_INST || v->kind == RH_VALUE_EXPR) && v->op == op;
}

enum { FEW_NUMBERS = 8 };

/* The few numbers that an index can only be: `c ? &p->left : &p->right` becomes one. */
static uint32_t list_numbers(const struct rh_value *index, int64_t out[FEW_NUMBERS])
{
    uint32_t count = 0;
    bool chooses = is_op(index, RH_OP_SELECT) || is_op(index, RH_OP_PHI);
    for (uint32_t i = index->op == RH_OP_SELECT; chooses && i < index->op_count; i++) {
        if (index->ops[i]->kind != RH_VALUE_INT || count == FEW_NUMBERS)
            return 0;
        out[count++] = index->ops[i]->num;
    }
    return count;
}

static void read_gep(const struct reader *r, struct rh_value *v)
{
    uint32_t from = pt_node_of(r->p, r->instance, v->ops[0]);
    uint32_t to = pt_def_of(r->p, r->instance, v);
    int64_t numbers[FEW_NUMBERS];
    uint32_t count = v->gep->term_count == 1 ? list_numbers(v->gep->terms[0].index, numbers) : 0;
    if (to != NO_NODE && (count || v->ops[0]->kind == RH_VALUE_NULL))
        r->p->nodes.data[pt_find(r->p, to)].single = false;
    for (uint32_t i = 0; i < count; i++) {
        int64_t offset = v->gep->offset + numbers[i] * v->gep->terms[0].scale;
        flow_moved(r, v->ops[0], v, &(struct shift){.offset = offset});
    }
    if (!count && from != NO_NODE && to != NO_NODE)
        add_gep_edges(r->p, from, to, v->gep);
    /* A pointer that was made an integer and is used as the index from address 0. */
    if (v->ops[0]->kind == RH_VALUE_NULL)
        for (uint32_t i = 1; i < v->op_count; i++)
            flow_moved(r, v->ops[i], v, &anywhere);
}

static void read_copies(const struct reader *r, struct rh_value *v)
{
    for (uint32_t i = 0; i < v->op_count; i++)
        flow(r, v->ops[i], v);
}

/* Made longer or shorter, a piece is a number. */
static void read_conversion(const struct reader *r, struct rh_value *v)
{
    if (pt_may_carry(v->type) == pt_may_carry(v->ops[0]->type))
        flow(r, v->ops[0], v);
}

/* Is the result no address any more: the distance of two pointers, the low bits of one, a hash? */
static bool is_mere_number(const struct rh_value *v)
{
    enum { PAGE = 4096, HALF = 32 };
    const struct rh_value *by = v->ops[1];
    switch (v->op) {
    case RH_OP_SUB:
        return is_op(by, RH_OP_PTRTOINT);
    case RH_OP_AND:
        return by->kind == RH_VALUE_INT && by->num >= 0 && by->num < PAGE;
    case RH_OP_LSHR:
    case RH_OP_ASHR: /* bits kept at either end of a pointer are shifted out and back */
        return !is_op(v->ops[0], RH_OP_SHL) && !(by->kind == RH_VALUE_INT && by->num < HALF);
    default:
        return false;
    }
}

/* An integer computed from a pointer may be turned back into one, to anywhere in its object. */
static void read_arithmetic(const struct reader *r, struct rh_value *v)
{
    struct rh_value *number = v->ops[1];
    if (is_mere_number(v))
        return;
    if ((v->op == RH_OP_ADD || v->op == RH_OP_SUB) && number->kind == RH_VALUE_INT) {
        int64_t distance = v->op == RH_OP_ADD ? number->num : (int64_t) - (uint64_t)number->num;
        flow_moved(r, v->ops[0], v, &(struct shift){.offset = distance});
        return;
    }
    flow_moved(r, v->ops[0], v, &anywhere);
    if (v->op != RH_OP_SUB)
        flow_moved(r, v->ops[1], v, &anywhere);
}

static void read_return(const struct reader *r, struct rh_value *v)
{
    uint32_t from = v->op_count ? pt_node_of(r->p, r->instance, v->ops[0]) : NO_NODE;
    if (from != NO_NODE)
        pt_add_copy_edge(r->p, from, r->p->instances.data[r->instance].result);
}

static void read_landing_pad(const struct reader *r, struct rh_value *v)
{
    uint32_t node = pt_def_of(r->p, r->instance, v);
    pt_add_copy_edge(r->p, r->p->kept, node);
    pt_add_copy_edge(r->p, r->p->outside, node);
}

/* The list leads to the area, the area holds the arguments. */
static void read_va_arg(const struct reader *r, struct rh_value *v)
{
    uint32_t list = pt_node_of(r->p, r->instance, v->ops[0]);
    uint32_t into = pt_def_of(r->p, r->instance, v);
    if (list == NO_NODE || into == NO_NODE)
        return;
    uint32_t area = pt_add_node(r->p);
    pt_add_use(r->p, list, &(struct use){.kind = USE_LOAD, .node = area, .bytes = 24});
    pt_add_use(r->p, area, &(struct use){.kind = USE_LOAD, .node = into, .bytes = 8});
}

static void read_call_op(const struct reader *r, struct rh_value *v)
{
    pt_read_call(r->p, r->instance, v);
}

/* Operations without a row make nothing that could be a pointer. */
static void (*const readers[RH_OP_COUNT])(const struct reader *, struct rh_value *) = {
    [RH_OP_ALLOCA] = read_alloca,
    [RH_OP_LOAD] = read_load,
    [RH_OP_STORE] = read_store,
    [RH_OP_RMW] = read_rmw,
    [RH_OP_CMPXCHG] = read_cmpxchg,
    [RH_OP_GEP] = read_gep,
    [RH_OP_PHI] = read_copies,
    [RH_OP_SELECT] = read_copies,
    [RH_OP_FREEZE] = read_copies,
    [RH_OP_BITCAST] = read_copies,
    [RH_OP_ADDRSPACECAST] = read_copies,
    [RH_OP_PTRTOINT] = read_copies,
    [RH_OP_INTTOPTR] = read_copies,
    [RH_OP_EXTRACTVALUE] = read_copies,
    [RH_OP_INSERTVALUE] = read_copies,
    [RH_OP_EXTRACTELEMENT] = read_copies,
    [RH_OP_INSERTELEMENT] = read_copies,
    [RH_OP_SHUFFLEVECTOR] = read_copies,
    [RH_OP_TRUNC] = read_conversion,
    [RH_OP_ZEXT] = read_conversion,
    [RH_OP_SEXT] = read_conversion,
    [RH_OP_ADD] = read_arithmetic,
    [RH_OP_SUB] = read_arithmetic,
    [RH_OP_AND] = read_arithmetic,
    [RH_OP_OR] = read_arithmetic,
    [RH_OP_XOR] = read_arithmetic,
    [RH_OP_SHL] = read_arithmetic,
    [RH_OP_LSHR] = read_arithmetic,
    [RH_OP_ASHR] = read_arithmetic,
    [RH_OP_RET] = read_return,
    [RH_OP_LANDINGPAD] = read_landing_pad,
    [RH_OP_VAARG] = read_va_arg,
    [RH_OP_CALL] = read_call_op,
    [RH_OP_INVOKE] = read_call_op,
    [RH_OP_CALLBR] = read_call_op,
};

void pt_read_instance(struct rh_pointsto *p, uint32_t instance)
{
    struct rh_function *fn = p->instances.data[instance].public.fn;
    struct reader r = {p, instance};
    for (uint32_t b = 0; b < fn->block_count; b++)
        for (struct rh_value *v = fn->blocks[b]->first; v; v = v->next)
            if (readers[v->op])
                readers[v->op](&r, v);
}
