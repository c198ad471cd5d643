/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what instructions do to memory: see access.h. */
#include "analysis/access.h"

#include <string.h>

#include "analysis/library.h"
#include "base/map.h"
#include "base/mem.h"
#include "racehive/access.h"

const char *rh_skip_name(enum rh_skip skip)
{
    static const char *const names[] = {
#define RH_SKIP_NAME(id, name) name,
        RH_SKIPS(RH_SKIP_NAME)
#undef RH_SKIP_NAME
    };
    return names[skip];
}

struct collector {
    struct rh_accesses *out;
    struct rh_map escapes; /* id of an alloca or variable -> 1 escapes, 2 does not */
};

/* --- which accesses are private --- */

static bool stays_in_function(struct collector *c, struct rh_value *base)
{
    uint64_t known;
    if (rh_map_get(&c->escapes, base->id, &known))
        return known == 2;
    bool stays = !rh_ir_escapes(base);
    rh_map_put(&c->escapes, base->id, stays ? 2 : 1);
    return stays;
}

static bool is_tls_address(const struct rh_value *v)
{
    return v->kind == RH_VALUE_INST && v->intrinsic &&
           strcmp(v->intrinsic, "llvm.threadlocal.address") == 0;
}

/* Does the address of this thread's copy go anywhere but into loads and stores? */
static bool is_lent(const struct rh_value *variable)
{
    for (uint32_t i = 0; i < variable->user_count; i++)
        if (!is_tls_address(variable->users[i]) || rh_ir_escapes(variable->users[i]))
            return true;
    return false;
}

/* A thread-local variable that only its own thread can name. */
static bool is_thread_local(struct collector *c, const struct rh_value *base)
{
    const struct rh_value *variable = is_tls_address(base) ? base->ops[0] : base;
    uint64_t known;
    if (variable->kind != RH_VALUE_GLOBAL || !variable->global->is_thread_local)
        return false;
    if (!rh_map_get(&c->escapes, variable->id, &known)) {
        known = is_lent(variable) || !variable->global->is_local ? 1 : 2;
        rh_map_put(&c->escapes, variable->id, known);
    }
    return known == 2;
}

/* Returns RH_SKIP_COUNT if the memory behind `pointer` may be shared. */
static enum rh_skip why_private(struct collector *c, struct rh_value *pointer)
{
    struct rh_value *base = rh_ir_base(pointer, NULL, NULL);
    if (pointer->type->kind != RH_TYPE_PTR)
        return RH_SKIP_VECTOR_OF_POINTERS;
    if (pointer->type->address_space)
        return RH_SKIP_ADDRESS_SPACE;
    if (is_thread_local(c, base))
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

static bool orders_later(enum rh_memory_order order)
{
    return order == RH_MO_ACQUIRE || order >= RH_MO_ACQ_REL;
}

/* The order of a comparison that may acquire when it fails, too. */
static enum rh_memory_order add_order(enum rh_memory_order order, enum rh_memory_order failed)
{
    if (orders_later(order) || !orders_later(failed))
        return order;
    return order == RH_MO_RELEASE ? RH_MO_ACQ_REL : RH_MO_ACQUIRE;
}

static struct rh_access make_access(struct rh_value *inst, struct rh_value *pointer,
                                    enum rh_access_kind kind, uint64_t size)
{
    return (struct rh_access){
        .inst = inst,
        .pointer = pointer,
        .size = size,
        .kind = (uint8_t)kind,
        .order = (uint8_t)inst->order,
        .flags = inst->is_volatile ? RH_SITE_VOLATILE : 0,
        .skip = RH_SKIP_COUNT,
    };
}

/* A length that is known is a size; anything else is handed to the hook when it runs. */
static struct rh_access make_range(struct rh_value *inst, struct rh_value *pointer,
                                   enum rh_access_kind kind, struct rh_value *length)
{
    bool known = length->kind == RH_VALUE_INT && length->num >= 0 && length->num <= UINT32_MAX;
    struct rh_access a = make_access(inst, pointer, kind, known ? (uint64_t)length->num : 0);
    if (!known) {
        a.flags |= RH_SITE_SIZED;
        a.length = length;
    }
    return a;
}

static uint32_t read_atomic(struct rh_value *inst, struct rh_access *out)
{
    enum rh_access_kind kind = inst->op == RH_OP_LOAD    ? RH_ACCESS_ATOMIC_READ
                               : inst->op == RH_OP_STORE ? RH_ACCESS_ATOMIC_WRITE
                                                         : RH_ACCESS_ATOMIC_UPDATE;
    *out = make_access(inst, rh_ir_pointer(inst), kind, inst->access->size);
    out->order = (uint8_t)add_order(inst->order, inst->fail_order);
    out->acquires = orders_later((enum rh_memory_order)out->order);
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

static struct rh_access read_operand(struct rh_value *call, const struct memory_intrinsic *row,
                                     int operand, enum rh_access_kind kind)
{
    if (row->length >= 0)
        return make_range(call, call->ops[operand], kind, call->ops[row->length]);
    struct rh_type *type = kind == RH_ACCESS_WRITE ? call->ops[0]->type : call->type;
    struct rh_access a = make_access(call, call->ops[operand], kind, type->size);
    a.flags |= row->partial ? RH_SITE_PARTIAL : 0;
    return a;
}

static uint32_t read_intrinsic(struct collector *c, struct rh_value *call, struct rh_access *out)
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

/* --- library functions --- */

/*
 * How sure it is what a call touches. A detector takes a hook for the access itself; but a function
 * may fail, find nothing to do, or wait for long before it touches anything, and only of some is it
 * known that they do not.
 */
enum certainty {
    TOUCHES_ALL,
    TOUCHES_FIRST,
    TOUCHES_OBJECT, /* all of what the first argument points to, which is in use until it returns;
                       its first byte stands for it where it is used, and not made or ended */
    TOUCHES_PERHAPS
};

/* By how their names begin; the first that fits counts. */
static const struct sure_function {
    const char *prefix;
    enum certainty certainty;
} sure_functions[] = {
    {"memcpy", TOUCHES_ALL},
    {"memmove", TOUCHES_ALL},
    {"mempcpy", TOUCHES_ALL},
    {"memset", TOUCHES_ALL},
    {"__memcpy", TOUCHES_ALL},
    {"__memmove", TOUCHES_ALL},
    {"__mempcpy", TOUCHES_ALL},
    {"__memset", TOUCHES_ALL},
    {"bcopy", TOUCHES_ALL},
    {"bzero", TOUCHES_ALL},
    {"explicit_bzero", TOUCHES_ALL},
    {"__explicit_bzero", TOUCHES_ALL},
    {"free", TOUCHES_FIRST},
    {"cfree", TOUCHES_FIRST},
    {"realloc", TOUCHES_FIRST},
    {"_Zd", TOUCHES_FIRST},
    {"strftime", TOUCHES_PERHAPS},
    {"mem", TOUCHES_FIRST},
    {"bcmp", TOUCHES_FIRST},
    {"str", TOUCHES_FIRST},
    {"__str", TOUCHES_FIRST},
    {"stp", TOUCHES_FIRST},
    {"sprintf", TOUCHES_FIRST},
    {"snprintf", TOUCHES_FIRST},
    {"vsprintf", TOUCHES_FIRST},
    {"vsnprintf", TOUCHES_FIRST},
    {"__sprintf", TOUCHES_FIRST},
    {"__snprintf", TOUCHES_FIRST},
    {"__vsprintf", TOUCHES_FIRST},
    {"__vsnprintf", TOUCHES_FIRST},
    {"printf", TOUCHES_FIRST},
    {"fprintf", TOUCHES_FIRST},
    {"__printf", TOUCHES_FIRST},
    {"__fprintf", TOUCHES_FIRST},
    {"puts", TOUCHES_FIRST},
    {"fputs", TOUCHES_FIRST},
    {"pthread_mutex", TOUCHES_OBJECT},
    {"pthread_rwlock", TOUCHES_OBJECT},
    {"pthread_spin", TOUCHES_OBJECT},
    {"pthread_cond", TOUCHES_OBJECT},
    {"pthread_barrier", TOUCHES_OBJECT},
    {"sem_", TOUCHES_OBJECT},
    {"mtx_", TOUCHES_OBJECT},
    {"cnd_", TOUCHES_OBJECT},
};

static enum certainty certainty_of(const char *function)
{
    for (size_t i = 0; i < sizeof sure_functions / sizeof sure_functions[0]; i++) {
        const char *prefix = sure_functions[i].prefix;
        if (strncmp(function, prefix, strlen(prefix)) == 0)
            return sure_functions[i].certainty;
    }
    return TOUCHES_PERHAPS;
}

static void note_certainty(struct rh_access *a, const char *function, uint32_t arg,
                           bool is_measured)
{
    enum certainty certainty = certainty_of(function);
    if (certainty == TOUCHES_PERHAPS || (certainty == TOUCHES_OBJECT && arg > 0))
        a->flags |= RH_SITE_PARTIAL;
    else if (certainty == TOUCHES_OBJECT)
        a->flags |= RH_SITE_OBJECT | (a->kind == RH_ACCESS_READ ? RH_SITE_AT_MOST : 0);
    else if (certainty == TOUCHES_FIRST && is_measured)
        a->flags |= RH_SITE_AT_MOST;
}

static struct rh_access make_library_access(struct rh_value *call, const struct rh_effect *e,
                                            uint32_t arg)
{
    enum rh_access_kind kind = e->kind == RH_EFFECT_READ ? RH_ACCESS_READ : RH_ACCESS_WRITE;
    struct rh_value *pointer = call->ops[arg];
    struct rh_access a;
    bool measured = e->length != RH_NO_ARG && (uint32_t)e->length < call->op_count &&
                    e->scale == RH_NO_ARG && call->ops[e->length]->type->bits == 64;
    if (measured) {
        a = make_range(call, pointer, kind, call->ops[e->length]);
    } else {
        a = make_access(call, pointer, kind, e->bytes ? e->bytes : 1);
        if (!e->bytes)
            a.flags |= RH_SITE_AT_LEAST;
    }
    note_certainty(&a, call->callee->fn->name, arg, measured);
    a.in_library = true;
    return a;
}

/* Streams guard themselves: what the library does to them is no access of the program's. */
static bool fits(const struct rh_value *call, uint32_t arg)
{
    if (arg >= call->op_count || call->ops[arg]->type->kind != RH_TYPE_PTR ||
        call->ops[arg]->kind == RH_VALUE_NULL)
        return false;
    const struct rh_value *base = rh_ir_base(call->ops[arg], NULL, NULL);
    return base->kind != RH_VALUE_GLOBAL || !rh_library_guards(base->name);
}

static uint32_t read_library_call(struct collector *c, const struct rh_library_row *row,
                                  struct rh_value *call, struct rh_access *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < row->effect_count; i++) {
        const struct rh_effect *e = &row->effects[i];
        if (e->kind != RH_EFFECT_READ && e->kind != RH_EFFECT_WRITE && e->kind != RH_EFFECT_FREE)
            continue;
        if (e->indirect) {
            c->out->skipped[RH_SKIP_LIBRARY_INDIRECT]++;
            continue;
        }
        uint32_t last = e->rest ? call->op_count : (uint32_t)e->arg + 1;
        for (uint32_t arg = (uint32_t)e->arg; arg < last; arg++) {
            if (!fits(call, arg))
                continue;
            if (n == RH_ACCESS_MAX)
                c->out->skipped[RH_SKIP_LIBRARY_ARGUMENT]++;
            else
                out[n++] = make_library_access(call, e, arg);
        }
    }
    return n;
}

static uint32_t read_call(struct collector *c, struct rh_value *inst, struct rh_access *out)
{
    struct rh_value *callee = inst->callee;
    if (inst->intrinsic)
        return read_intrinsic(c, inst, out);
    if (!callee)
        return 0;
    if (callee->kind == RH_VALUE_ASM && !inst->no_memory)
        c->out->skipped[RH_SKIP_ASSEMBLY]++;
    if (callee->kind != RH_VALUE_FUNCTION || callee->fn->block_count)
        return 0;
    const struct rh_library_row *row = rh_library_find(callee->fn->name);
    return row ? read_library_call(c, row, inst, out) : 0;
}

/* The accesses an instruction makes. */
static uint32_t read_accesses(struct collector *c, struct rh_value *inst,
                              struct rh_access out[RH_ACCESS_MAX])
{
    switch (inst->op) {
    case RH_OP_LOAD:
    case RH_OP_STORE:
        if (inst->order != RH_MO_PLAIN)
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
    case RH_OP_INVOKE:
        return read_call(c, inst, out);
    default:
        return 0;
    }
}

/* --- the list --- */

static void collect_block(struct collector *c, struct rh_block *block)
{
    struct rh_access found[RH_ACCESS_MAX];
    for (struct rh_value *inst = block->first; inst; inst = inst->next) {
        uint32_t n = read_accesses(c, inst, found);
        for (uint32_t i = 0; i < n; i++) {
            if (found[i].pointer)
                found[i].skip = why_private(c, found[i].pointer);
            if (found[i].skip != RH_SKIP_COUNT)
                c->out->skipped[found[i].skip]++;
            rh_vec_push(&c->out->all, found[i]);
        }
    }
}

/* Whether the instruction's function asks not to be instrumented, or one that was inlined there. */
static bool is_ignored(const struct rh_value *inst)
{
    bool ignored = inst->fn->no_instrument;
    for (const struct rh_loc *loc = inst->loc; loc && !ignored; loc = loc->inlined_at)
        ignored = loc->is_ignored;
    return ignored;
}

static void collect_function(struct collector *c, struct rh_function *fn)
{
    if (!fn->block_count)
        return;
    if (fn->is_naked) {
        c->out->skipped[RH_SKIP_NAKED_FUNCTION]++;
        return;
    }
    size_t first = c->out->all.len;
    for (uint32_t b = 0; b < fn->block_count; b++)
        collect_block(c, fn->blocks[b]);
    /* They take part in the analysis (another's access to the same memory may still race with a
     * third), but are reported by nobody. */
    bool any = fn->no_instrument;
    for (size_t i = first; i < c->out->all.len; i++)
        if (is_ignored(c->out->all.data[i].inst)) {
            c->out->all.data[i].skip = RH_SKIP_IGNORED_FUNCTION;
            any = true;
        }
    c->out->skipped[RH_SKIP_IGNORED_FUNCTION] += any;
}

/* --- what users want left out --- */

/* At link time there are no stacks, so both kinds mean the same. */
static bool is_named(const struct rh_config *config, const char *name)
{
    return rh_config_matches(config, RH_CONFIG_RACE, name) ||
           rh_config_matches(config, RH_CONFIG_RACE_TOP, name);
}

static bool is_place_named(const struct rh_config *config, const struct rh_loc *loc)
{
    for (; loc; loc = loc->inlined_at)
        if (is_named(config, loc->function) || is_named(config, loc->linkage) ||
            is_named(config, loc->file))
            return true;
    return false;
}

static bool is_suppressed(const struct rh_config *config, const struct rh_access *a)
{
    if (is_place_named(config, a->inst->loc ? a->inst->loc : a->inst->fn->loc) ||
        is_named(config, a->inst->fn->name))
        return true;
    const struct rh_value *base = a->pointer ? rh_ir_base(a->pointer, NULL, NULL) : NULL;
    return base && base->kind == RH_VALUE_GLOBAL && is_named(config, base->name);
}

static void suppress(const struct rh_config *config, struct rh_accesses *accesses)
{
    if (!config ||
        !(rh_config_has(config, RH_CONFIG_RACE) || rh_config_has(config, RH_CONFIG_RACE_TOP)))
        return;
    rh_vec_each (struct rh_access, a, &accesses->all) {
        if (a->skip != RH_SKIP_COUNT || !is_suppressed(config, a))
            continue;
        a->skip = RH_SKIP_SUPPRESSED;
        accesses->skipped[RH_SKIP_SUPPRESSED]++;
    }
}

static bool has_acquire_fence(const struct rh_accesses *accesses)
{
    for (size_t i = 0; i < accesses->all.len; i++)
        if (accesses->all.data[i].kind == RH_ACCESS_FENCE && accesses->all.data[i].acquires)
            return true;
    return false;
}

/* With an acquire fence behind it, a relaxed load acquires too. */
static void note_fences(struct rh_accesses *accesses)
{
    if (!has_acquire_fence(accesses))
        return;
    for (size_t i = 0; i < accesses->all.len; i++) {
        struct rh_access *a = &accesses->all.data[i];
        if (a->kind == RH_ACCESS_ATOMIC_READ || a->kind == RH_ACCESS_ATOMIC_UPDATE)
            a->acquires = true;
    }
}

void rh_accesses_collect(struct rh_module *m, const struct rh_config *config,
                         struct rh_accesses *out)
{
    memset(out, 0, sizeof *out);
    out->module = m;
    struct collector c = {.out = out};
    uint32_t count = rh_ir_function_count(m);
    out->first_of = rh_alloc_array(count + (size_t)1, sizeof *out->first_of);
    for (uint32_t f = 0; f < count; f++) {
        out->first_of[f] = (uint32_t)out->all.len;
        collect_function(&c, rh_ir_function(m, f));
    }
    out->first_of[count] = (uint32_t)out->all.len;
    rh_map_release(&c.escapes);
    note_fences(out);
    suppress(config, out);
}

void rh_accesses_release(struct rh_accesses *a)
{
    rh_vec_free(&a->all);
    free(a->first_of);
    a->first_of = NULL;
}

bool rh_access_writes(const struct rh_access *a)
{
    return rh_kind_writes(a->kind);
}

bool rh_access_is_atomic(const struct rh_access *a)
{
    return !rh_kind_is_plain(a->kind);
}

bool rh_access_is_site(const struct rh_access *a)
{
    switch (a->skip) {
    case RH_SKIP_COUNT:
        return true;
    case RH_SKIP_IGNORED_FUNCTION: /* what orders threads must be seen, whoever looks away */
    case RH_SKIP_SUPPRESSED:
    case RH_SKIP_NEVER_RUN: /* nothing depends on it, if it is so */
    case RH_SKIP_NO_OBJECT:
    case RH_SKIP_LIBRARYS: /* its counts order what users do with the objects */
    case RH_SKIP_DECLARED:
    case RH_SKIP_ONLY_READ:
    case RH_SKIP_NOT_PARALLEL:
    case RH_SKIP_GUARDED:
    case RH_SKIP_ATOMIC:
        return rh_access_is_atomic(a);
    default:
        return false;
    }
}

bool rh_access_may_be_shared(const struct rh_access *a)
{
    return a->skip >= RH_SKIP_NEVER_RUN;
}
