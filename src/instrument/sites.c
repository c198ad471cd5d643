/* Collects the sites of a module and groups them under keys: see sites.h. */
#include "instrument/sites.h"

#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "ir/expr.h"

/* The numbers of memory orders are written as they are in the module's snapshot. */
_Static_assert((int)RH_ORDER_SEQ_CST == (int)RH_MO_SEQ_CST, "image.h repeats ir.h's orders");

const char *rh_skip_name(enum rh_skip skip)
{
    static const char *const names[] = {
#define RH_SKIP_NAME(id, name) name,
        RH_SKIPS(RH_SKIP_NAME)
#undef RH_SKIP_NAME
    };
    return names[skip];
}

/* One access found in a block, before it is given a key. */
struct access {
    struct rh_value *inst;
    struct rh_value *pointer;
    struct rh_value *length;
    struct rh_value *base; /* pointer less its constant offsets */
    int64_t offset;        /* of pointer from base */
    struct rh_site_record record;
    bool alone; /* never shares a key */
    bool acquires;
};

/* A key being filled: accesses of the current block that share a base. */
struct group {
    struct rh_value *base;
    RH_VEC(struct access) members;
};

struct collector {
    struct rh_module *module;
    struct rh_sites *out;
    struct rh_expr *expr;
    struct rh_function *fn;
    struct rh_cfg *cfg;
    uint32_t *loop_key;        /* per loop of the function: its key, or RH_NO_LOOP */
    struct rh_map escapes;     /* alloca or argument id -> 1 escapes, 2 does not */
    RH_VEC(struct group) open; /* groups that may still grow, of one block */
    size_t open_count;
};

/* --- which accesses count --- */

static bool stays_in_function(struct collector *c, struct rh_value *base)
{
    uint64_t known;
    if (rh_map_get(&c->escapes, base->id, &known))
        return known == 2;
    bool stays = !rh_ir_escapes(base);
    rh_map_put(&c->escapes, base->id, stays ? 2 : 1);
    return stays;
}

static bool is_thread_local(const struct rh_value *base)
{
    if (base->kind == RH_VALUE_GLOBAL)
        return base->global->is_thread_local;
    return base->kind == RH_VALUE_INST && base->intrinsic &&
           strcmp(base->intrinsic, "llvm.threadlocal.address") == 0;
}

/* Returns RH_SKIP_COUNT if the memory behind `pointer` may be shared. */
static enum rh_skip why_private(struct collector *c, struct rh_value *pointer)
{
    struct rh_value *base = rh_ir_base(pointer, NULL, NULL);
    if (pointer->type->kind != RH_TYPE_PTR)
        return RH_SKIP_VECTOR_OF_POINTERS;
    if (pointer->type->address_space)
        return RH_SKIP_ADDRESS_SPACE;
    if (is_thread_local(base))
        return RH_SKIP_THREAD_LOCAL;
    if (base->kind == RH_VALUE_GLOBAL && base->global->is_const)
        return RH_SKIP_CONSTANT;
    if (base->kind == RH_VALUE_ARG && base->is_by_value)
        return RH_SKIP_BY_VALUE;
    bool is_slot = base->kind == RH_VALUE_INST && base->op == RH_OP_ALLOCA;
    if (is_slot && stays_in_function(c, base))
        return RH_SKIP_STACK;
    return RH_SKIP_COUNT;
}

/* --- reading instructions --- */

static bool orders_later(enum rh_order order)
{
    return order == RH_ORDER_ACQUIRE || order >= RH_ORDER_ACQ_REL;
}

static struct rh_value *strip_constant_offsets(struct rh_value *pointer, int64_t *offset)
{
    *offset = 0;
    while (pointer->gep && pointer->gep->term_count == 0) {
        *offset += pointer->gep->offset;
        pointer = pointer->ops[0];
    }
    return pointer;
}

static struct access make_access(struct rh_value *inst, struct rh_value *pointer,
                                 enum rh_access_kind kind, uint64_t size)
{
    struct access a = {
        .inst = inst,
        .pointer = pointer,
        .record = {.size = (uint32_t)size, .access = (uint8_t)kind, .order = (uint8_t)inst->order},
        .alone = inst->is_volatile || inst->order != RH_ORDER_NONE,
    };
    if (inst->is_volatile)
        a.record.flags |= RH_SITE_VOLATILE;
    if (pointer)
        a.base = strip_constant_offsets(pointer, &a.offset);
    return a;
}

/* A length that is known is a size; anything else is handed to the hook when it runs. */
static struct access make_range(struct rh_value *inst, struct rh_value *pointer,
                                enum rh_access_kind kind, struct rh_value *length)
{
    bool known = length->kind == RH_VALUE_INT && length->num >= 0 && length->num <= UINT32_MAX;
    struct access a = make_access(inst, pointer, kind, known ? (uint64_t)length->num : 0);
    if (!known) {
        a.record.flags |= RH_SITE_SIZED;
        a.length = length;
        a.alone = true;
    }
    return a;
}

static uint32_t read_atomic(struct rh_value *inst, struct access out[2])
{
    enum rh_access_kind kind = inst->op == RH_OP_LOAD    ? RH_ACCESS_ATOMIC_READ
                               : inst->op == RH_OP_STORE ? RH_ACCESS_ATOMIC_WRITE
                                                         : RH_ACCESS_ATOMIC_UPDATE;
    out[0] = make_access(inst, rh_ir_pointer(inst), kind, inst->access->size);
    out[0].acquires = orders_later(inst->order) || orders_later(inst->fail_order);
    return 1;
}

/* The intrinsics that touch memory: which operand is written, which read (-1: none), and where the
 * length stands (-1: the type says). */
static const struct memory_intrinsic {
    const char *name;
    int written, read, length;
    bool partial;
} memory_intrinsics[] = {
    {"llvm.memcpy", 0, 1, 2, false},         {"llvm.memcpy.inline", 0, 1, 2, false},
    {"llvm.memmove", 0, 1, 2, false},        {"llvm.memset", 0, -1, 2, false},
    {"llvm.memset.inline", 0, -1, 2, false}, {"llvm.masked.load", -1, 0, -1, true},
    {"llvm.masked.store", 1, -1, -1, true},
};

static struct access read_operand(struct rh_value *call, const struct memory_intrinsic *row,
                                  int operand, enum rh_access_kind kind)
{
    if (row->length >= 0)
        return make_range(call, call->ops[operand], kind, call->ops[row->length]);
    struct rh_type *type = kind == RH_ACCESS_WRITE ? call->ops[0]->type : call->type;
    struct access a = make_access(call, call->ops[operand], kind, type->size);
    a.record.flags |= row->partial ? RH_SITE_PARTIAL : 0;
    return a;
}

static uint32_t read_intrinsic(struct collector *c, struct rh_value *call, struct access out[2])
{
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof memory_intrinsics / sizeof memory_intrinsics[0]; i++) {
        const struct memory_intrinsic *row = &memory_intrinsics[i];
        if (strcmp(row->name, call->intrinsic) != 0)
            continue;
        if (row->read >= 0)
            out[n++] = read_operand(call, row, row->read, RH_ACCESS_READ);
        if (row->written >= 0)
            out[n++] = read_operand(call, row, row->written, RH_ACCESS_WRITE);
    }
    if (strncmp(call->intrinsic, "llvm.masked.gather", 18) == 0 ||
        strncmp(call->intrinsic, "llvm.masked.scatter", 19) == 0)
        c->out->skipped[RH_SKIP_VECTOR_OF_POINTERS]++;
    return n;
}

/* The accesses an instruction makes, at most two. */
static uint32_t read_accesses(struct collector *c, struct rh_value *inst, struct access out[2])
{
    switch (inst->op) {
    case RH_OP_LOAD:
    case RH_OP_STORE:
        if (inst->order != RH_ORDER_NONE)
            return read_atomic(inst, out);
        out[0] = make_access(inst, rh_ir_pointer(inst),
                             inst->op == RH_OP_LOAD ? RH_ACCESS_READ : RH_ACCESS_WRITE,
                             inst->access->size);
        return 1;
    case RH_OP_RMW:
    case RH_OP_CMPXCHG:
        return read_atomic(inst, out);
    case RH_OP_FENCE:
        if (inst->single_thread)
            return 0;
        out[0] = make_access(inst, NULL, RH_ACCESS_FENCE, 0);
        out[0].acquires = orders_later(inst->order);
        return 1;
    case RH_OP_CALL:
        if (inst->callee && inst->callee->kind == RH_VALUE_ASM && !inst->no_memory)
            c->out->skipped[RH_SKIP_ASSEMBLY]++;
        return inst->intrinsic ? read_intrinsic(c, inst, out) : 0;
    default:
        return 0;
    }
}

/* May something happen at this instruction that orders threads, or that the block does not come
 * back from? Then accesses on its two sides must not share a key. */
static bool ends_groups(const struct rh_value *inst)
{
    switch (inst->op) {
    case RH_OP_CALL:
        return !inst->intrinsic || strcmp(inst->intrinsic, "llvm.trap") == 0;
    case RH_OP_INVOKE:
    case RH_OP_CALLBR:
    case RH_OP_FENCE:
    case RH_OP_RMW:
    case RH_OP_CMPXCHG:
        return true;
    case RH_OP_LOAD:
    case RH_OP_STORE:
        return inst->order != RH_ORDER_NONE || inst->is_volatile;
    default:
        return false;
    }
}

/* --- loops to copy --- */

static bool is_local_intrinsic(const struct rh_value *call)
{
    return call->op == RH_OP_CALL && call->intrinsic;
}

/* A loop that only waits: it stores nothing and each load goes to the same place every time round.
 * A thread inside it would never come to the key before the copy. */
static bool only_waits(const struct rh_loop *loop)
{
    for (uint32_t b = 0; b < loop->block_count; b++) {
        for (struct rh_value *i = loop->blocks[b]->first; i; i = i->next) {
            if (i->op == RH_OP_STORE || is_local_intrinsic(i))
                return false;
            if (i->op != RH_OP_LOAD)
                continue;
            struct rh_value *p = rh_ir_pointer(i);
            if (p->kind == RH_VALUE_INST && rh_cfg_loop_contains(loop, p->block))
                return false;
        }
    }
    return true;
}

static bool can_copy(const struct rh_loop *loop)
{
    enum { MAX_INSTRUCTIONS = 2000 }; /* beyond, one key in so much code gains nothing */
    uint32_t size = 0;
    if (!loop->innermost || !loop->preheader)
        return false;
    for (uint32_t b = 0; b < loop->block_count; b++) {
        for (struct rh_value *i = loop->blocks[b]->first; i; i = i->next) {
            if (ends_groups(i) || i->op == RH_OP_INDIRECTBR || ++size > MAX_INSTRUCTIONS)
                return false;
        }
    }
    return !only_waits(loop);
}

static bool loop_has_sites(struct collector *c, const struct rh_loop *loop)
{
    struct access found[2];
    for (uint32_t b = 0; b < loop->block_count; b++) {
        for (struct rh_value *i = loop->blocks[b]->first; i; i = i->next) {
            uint32_t n = read_accesses(c, i, found);
            for (uint32_t k = 0; k < n; k++)
                if (!found[k].pointer || why_private(c, found[k].pointer) == RH_SKIP_COUNT)
                    return true;
        }
    }
    return false;
}

static void plan_loops(struct collector *c)
{
    c->loop_key = rh_arena_alloc(&c->out->arena, (c->cfg->loop_count + 1) * sizeof(uint32_t));
    uint64_t skipped[RH_SKIP_COUNT];
    memcpy(skipped, c->out->skipped, sizeof skipped);
    for (uint32_t l = 0; l < c->cfg->loop_count; l++) {
        c->loop_key[l] = RH_NO_LOOP;
        if (!can_copy(&c->cfg->loops[l]) || !loop_has_sites(c, &c->cfg->loops[l]))
            continue;
        c->loop_key[l] = (uint32_t)c->out->keys.len;
        rh_vec_push(&c->out->keys,
                    (struct rh_key){
                        .kind = RH_KEY_LOOP, .loop = RH_NO_LOOP, .copied_loop = l, .fn = c->fn});
    }
    memcpy(c->out->skipped, skipped, sizeof skipped); /* looked at twice, counted once */
}

/* --- naming --- */

/*
 * What identifies a site across rebuilds: where it stands by names, not by lines. Accesses that
 * would be the same get an ordinal, in the order of the code.
 */
static uint64_t fingerprint_of(const struct rh_site *site)
{
    struct rh_hash h;
    rh_hash_init(&h);
    rh_hash_add_string(&h, site->inst->fn->name);
    for (const struct rh_loc *l = site->inst->loc; l; l = l->inlined_at) {
        const char *slash = strrchr(l->file, '/');
        rh_hash_add_string(&h, slash ? slash + 1 : l->file);
        rh_hash_add_string(&h, l->linkage);
    }
    rh_hash_add_string(&h, site->expression);
    rh_hash_add_u64(&h, site->record.access);
    rh_hash_add_u64(&h, site->record.order);
    rh_hash_add_u64(&h, site->record.size);
    return rh_hash_finish(&h);
}

static const char *name_access(struct collector *c, const struct access *a)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    const char *name = "";
    uint64_t size = a->record.size;
    if (a->pointer && rh_expr_describe(c->expr, a->inst, a->pointer, 0, size, &text))
        name = rh_arena_strdup(&c->out->arena, rh_strbuf_text(&text));
    rh_strbuf_release(&text);
    return name;
}

static void add_site(struct collector *c, const struct access *a, uint32_t key, int64_t offset)
{
    struct rh_site site = {
        .inst = a->inst,
        .pointer = a->pointer,
        .length = a->length,
        .key = key,
        .record = a->record,
        .expression = name_access(c, a),
    };
    site.record.offset = (int32_t)offset;
    site.fingerprint = fingerprint_of(&site);
    rh_vec_push(&c->out->sites, site);
}

/* --- grouping --- */

static uint32_t loop_of(struct collector *c, const struct rh_value *inst)
{
    struct rh_loop *loop = rh_cfg_loop_of(c->cfg, inst->block);
    return loop ? c->loop_key[loop->id] : RH_NO_LOOP;
}

static void add_key(struct collector *c, const struct access *members, size_t count)
{
    struct rh_key key = {
        .kind = RH_KEY_ACCESS,
        .first_site = (uint32_t)c->out->sites.len,
        .site_count = (uint32_t)count,
        .loop = loop_of(c, members[0].inst),
        .fn = c->fn,
    };
    uint32_t number = (uint32_t)c->out->keys.len;
    for (size_t i = 0; i < count; i++)
        add_site(c, &members[i], number, members[i].offset - members[0].offset);
    rh_vec_push(&c->out->keys, key);
    if (!members[0].acquires)
        return;
    key.kind = RH_KEY_AFTER;
    rh_vec_push(&c->out->keys, key);
}

static void close_groups(struct collector *c)
{
    for (size_t g = 0; g < c->open_count; g++) {
        struct group *group = &c->open.data[g];
        add_key(c, group->members.data, group->members.len);
        rh_vec_clear(&group->members);
    }
    c->open_count = 0;
}

static struct group *group_for(struct collector *c, const struct access *a)
{
    enum { MAX_MEMBERS = 1000 };
    for (size_t g = 0; g < c->open_count; g++) {
        struct group *group = &c->open.data[g];
        int64_t distance = a->offset - group->members.data[0].offset;
        if (group->base == a->base && group->members.len < MAX_MEMBERS && distance >= INT32_MIN &&
            distance <= INT32_MAX)
            return group;
    }
    if (c->open_count == c->open.len)
        rh_vec_push(&c->open, (struct group){0});
    struct group *group = &c->open.data[c->open_count++];
    group->base = a->base;
    return group;
}

static void add_access(struct collector *c, const struct access *a)
{
    if (a->pointer) {
        enum rh_skip why = why_private(c, a->pointer);
        if (why != RH_SKIP_COUNT) {
            c->out->skipped[why]++;
            return;
        }
    }
    if (a->alone || !a->pointer) {
        add_key(c, a, 1);
        return;
    }
    struct group *group = group_for(c, a);
    rh_vec_push(&group->members, *a);
}

static void collect_block(struct collector *c, struct rh_block *block)
{
    struct access found[2];
    for (struct rh_value *inst = block->first; inst; inst = inst->next) {
        uint32_t n = read_accesses(c, inst, found);
        if (ends_groups(inst))
            close_groups(c);
        for (uint32_t i = 0; i < n; i++)
            add_access(c, &found[i]);
    }
    close_groups(c);
}

static void collect_function(struct collector *c, struct rh_function *fn)
{
    c->fn = fn;
    c->cfg = rh_cfg_build(fn);
    plan_loops(c);
    for (uint32_t b = 0; b < fn->block_count; b++)
        if (rh_cfg_reachable(c->cfg, fn->blocks[b]))
            collect_block(c, fn->blocks[b]);
    rh_cfg_free(c->cfg);
}

/* Gives equal fingerprints an ordinal; sites come in the order of the code, so it is stable. */
static void part_equal_fingerprints(struct rh_sites *s)
{
    struct rh_map seen = RH_MAP_INIT;
    rh_vec_each (struct rh_site, site, &s->sites) {
        uint64_t count = 0, key = site->fingerprint;
        rh_map_get(&seen, key, &count);
        rh_map_put(&seen, key, count + 1);
        if (!count)
            continue;
        struct rh_hash h;
        rh_hash_init(&h);
        rh_hash_add_u64(&h, key);
        rh_hash_add_u64(&h, count);
        site->fingerprint = rh_hash_finish(&h);
    }
    rh_map_release(&seen);
}

void rh_sites_collect(struct rh_module *m, struct rh_sites *out)
{
    memset(out, 0, sizeof *out);
    rh_arena_init(&out->arena);
    struct collector c = {.module = m, .out = out, .expr = rh_expr_index(m)};
    rh_map_init(&c.escapes);
    for (uint32_t f = 0; f < rh_ir_function_count(m); f++) {
        struct rh_function *fn = rh_ir_function(m, f);
        if (!fn->block_count)
            continue;
        if (fn->is_naked)
            out->skipped[RH_SKIP_NAKED_FUNCTION]++;
        else if (fn->no_instrument)
            out->skipped[RH_SKIP_IGNORED_FUNCTION]++;
        else
            collect_function(&c, fn);
    }
    part_equal_fingerprints(out);
    rh_expr_free(c.expr);
    rh_map_release(&c.escapes);
    rh_vec_each (struct group, g, &c.open)
        rh_vec_free(&g->members);
    rh_vec_free(&c.open);
}

void rh_sites_release(struct rh_sites *s)
{
    rh_vec_free(&s->sites);
    rh_vec_free(&s->keys);
    rh_arena_release(&s->arena);
}
