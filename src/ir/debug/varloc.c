/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the variable locations of a module in one walk, and answers what a variable is at an
 * instruction by following its definitions along the control flow.
 */
#include "ir/debug/varloc.h"

#include <stdlib.h>
#include <string.h>

#include <llvm/Config/llvm-config.h>

#include "base/bitset.h"
#include "base/mem.h"
#include "ir/debug/di.h"
#include "ir/debug/diexpr.h"

/* States of a variable at the start of a block beside its definitions. */
enum { STATE_UNSEEN = UINT32_MAX - 1, STATE_MIXED = UINT32_MAX - 2, STATE_NONE = RH_VARDEF_NONE };

/* How many earlier definitions of a variable are compared to find one that says the same; missing
 * one far back makes the variable unknown in places, never wrong. */
#define MAX_COMPARED 64

/* How many states are kept; a huge function with many variables would fill the memory. */
#define MAX_KEPT (16u << 20)
/* In larger functions only what is said within a block counts: to follow each variable through all
 * blocks would take the square of their size. */
#define MAX_BLOCKS 10000u

struct variable_vec RH_VEC_BODY(struct rh_variable);
struct vardef_vec RH_VEC_BODY(struct rh_vardef);
struct number_vec RH_VEC_BODY(uint32_t);

struct rh_varlocs {
    struct rh_module *m;
    struct rh_ditypes *types;
    struct rh_diexprs exprs;
    struct variable_vec variables;
    struct vardef_vec defs; /* grouped by variable */
    uint32_t *of_value;     /* first definition by value id */
    /* The function being read. */
    struct vardef_vec fresh;         /* its definitions in the order of the code */
    struct rh_map first_instance;    /* DILocalVariable -> first variable of it in the function */
    struct number_vec next_instance; /* by variable: the next of the same DILocalVariable */
    /* What was computed for the function asked about last. */
    const struct rh_function *fn;
    struct rh_arena arena;
    size_t kept;          /* numbers in `states` */
    struct rh_map states; /* variable -> uint32_t * by block */
    struct rh_map missed; /* definition -> bitset of blocks that can be reached without it */
};

/* Names that the compiler gives with a number behind, for which it leaves no other mark to us. */
static bool is_hidden_name(const char *name)
{
    static const char *const stems[] = {"__range", "__begin", "__end", "__vla_expr"};

    for (size_t i = 0; i < sizeof stems / sizeof stems[0]; i++) {
        size_t len = strlen(stems[i]);

        if (strncmp(name, stems[i], len) == 0 && name[len] >= '0' && name[len] <= '9')
            return true;
    }
    return *name == '\0' || strcmp(name, "vtt") == 0;
}

static uint32_t add_variable(struct rh_varlocs *vl, LLVMMetadataRef node,
                             LLVMMetadataRef inlined_at, const struct rh_diexpr *expr)
{
    LLVMContextRef context = vl->m->context;
    struct rh_variable v = {
        .node = node,
        .inlined_at = inlined_at,
        .scope = rh_di_get(context, node, RH_DI_SCOPE),
        .name = rh_di_text(context, node, RH_DI_NAME, NULL),
        .type = rh_ditype_of(vl->types, rh_di_get(context, node, RH_DI_TYPE)),
        .is_part = expr->is_part,
        .offset = expr->offset,
        .size = expr->size,
    };

    v.is_hidden = is_hidden_name(v.name);
    rh_ditype_reach(vl->types, v.type);
    rh_vec_push(&vl->variables, v);
    rh_vec_push(&vl->next_instance, UINT32_MAX);
    return (uint32_t)vl->variables.len - 1;
}

/* The parts of a variable that was taken apart are followed as variables of their own. */
static uint32_t find_variable(struct rh_varlocs *vl, LLVMMetadataRef node,
                              LLVMMetadataRef inlined_at, const struct rh_diexpr *expr)
{
    uint64_t first;
    uint32_t at, last = UINT32_MAX;

    at = rh_map_get(&vl->first_instance, rh_map_key(node), &first) ? (uint32_t)first : UINT32_MAX;
    for (; at != UINT32_MAX; at = vl->next_instance.data[at]) {
        const struct rh_variable *v = &vl->variables.data[at];

        if (v->inlined_at == inlined_at && v->is_part == expr->is_part &&
            v->offset == expr->offset && v->size == expr->size)
            return at;
        last = at;
    }
    at = add_variable(vl, node, inlined_at, expr);
    if (last == UINT32_MAX)
        rh_map_put(&vl->first_instance, rh_map_key(node), at);
    else
        vl->next_instance.data[last] = at;
    return at;
}

/* One saying of debug information, whatever LLVM's version wraps it in. */
struct saying {
    bool declares; /* where the variable lives, rather than what it is now */
    LLVMValueRef value;
    LLVMMetadataRef variable, expr, location;
    LLVMMetadataRef part; /* the expression that says which part of the variable is meant */
};

static enum rh_vardef_kind classify(const struct saying *said, const struct rh_diexpr *expr,
                                    const struct rh_value *value)
{
    bool is_stack = value && value->kind == RH_VALUE_INST && value->op == RH_OP_ALLOCA;

    if (!value || !expr->is_known || (value->kind != RH_VALUE_INST && value->kind != RH_VALUE_ARG))
        return RH_VARDEF_LOST;
    if (said->declares) {
        if (!expr->derefs)
            return RH_VARDEF_MEMORY;
        return expr->plus == 0 ? RH_VARDEF_INDIRECT : RH_VARDEF_LOST;
    }
    if (expr->derefs)
        return is_stack || value->kind == RH_VALUE_ARG ? RH_VARDEF_MEMORY : RH_VARDEF_LOST;
    return expr->plus == 0 || expr->is_stack_value ? RH_VARDEF_VALUE : RH_VARDEF_LOST;
}

static void strip_constants(struct rh_vardef *def)
{
    while (def->value->kind == RH_VALUE_INST && def->value->op == RH_OP_GEP &&
           def->value->gep->term_count == 0 && def->value->type->kind == RH_TYPE_PTR) {
        struct rh_value *base = def->value->ops[0];

        if (base->kind != RH_VALUE_INST && base->kind != RH_VALUE_ARG)
            return;
        def->plus += def->value->gep->offset;
        def->value = base;
    }
}

static void add_def(struct rh_varlocs *vl, const struct saying *said, const struct rh_value *before)
{
    static const struct rh_diexpr whole = {.is_known = true};
    const struct rh_diexpr *expr = rh_diexpr_of(&vl->exprs, said->expr);
    const struct rh_diexpr *part = rh_diexpr_of(&vl->exprs, said->part);
    struct rh_value *value =
        said->value ? rh_map_get_ptr(&vl->m->value_of, rh_map_key(said->value)) : NULL;
    struct rh_vardef def = {
        .kind = classify(said, expr, value),
        .block = before->block->id,
        .before = before->id,
        .plus = expr->plus,
    };

    if (!said->location)
        return;
    if (!part->is_known)
        def.kind = RH_VARDEF_LOST;
    if (def.kind == RH_VARDEF_MEMORY) { /* where a part is, the whole begins so much before */
        def.plus -= (int64_t)part->offset;
        part = &whole;
    }
    def.value = def.kind == RH_VARDEF_LOST ? NULL : value;
    if (def.kind == RH_VARDEF_VALUE)
        strip_constants(&def);
    def.variable =
        find_variable(vl, said->variable, LLVMDILocationGetInlinedAt(said->location), part);
    rh_vec_push(&vl->fresh, def);
}

#if LLVM_VERSION_MAJOR >= 22

/* An expression over a list of values is not known to diexpr.h: of such a record no value may be
 * asked for. Where an assignment's variable lives in memory cannot be asked at all. */
static void read_records(struct rh_varlocs *vl, LLVMValueRef handle, const struct rh_value *inst)
{
    for (LLVMDbgRecordRef r = LLVMGetFirstDbgRecord(handle); r; r = LLVMGetNextDbgRecord(r)) {
        LLVMDbgRecordKind kind = LLVMDbgRecordGetKind(r);
        struct saying said;

        if (kind == LLVMDbgRecordLabel)
            continue;
        said = (struct saying){
            .declares = kind == LLVMDbgRecordDeclare,
            .variable = LLVMDbgVariableRecordGetVariable(r),
            .expr = LLVMDbgVariableRecordGetExpression(r),
            .part = LLVMDbgVariableRecordGetExpression(r),
            .location = LLVMDbgRecordGetDebugLoc(r),
        };
        if (rh_diexpr_of(&vl->exprs, said.expr)->is_known)
            said.value = LLVMDbgVariableRecordGetValue(r, 0);
        add_def(vl, &said, inst);
    }
}

static void read_block(struct rh_varlocs *vl, const struct rh_block *block)
{
    for (const struct rh_value *inst = block->first; inst; inst = inst->next)
        read_records(vl, inst->handle, inst);
}

static void read_functions(struct rh_varlocs *vl,
                           void (*read)(struct rh_varlocs *vl, const struct rh_function *fn))
{
    for (uint32_t i = 0; i < vl->m->function_count; i++)
        read(vl, vl->m->functions[i]);
}

#else

/* What a debug intrinsic is called, and which operand is the value that it is about. */
static const struct intrinsic {
    const char *name;
    unsigned operand, expr;
    bool declares;
} intrinsics[] = {
    {"llvm.dbg.value", 0, 2, false},
    {"llvm.dbg.declare", 0, 2, true},
    {"llvm.dbg.assign", 4, 5, true},  /* where the variable lives in memory */
    {"llvm.dbg.assign", 0, 2, false}, /* and what it is now, which therefore comes last */
};

#define INTRINSIC_COUNT (sizeof intrinsics / sizeof intrinsics[0])

/* NULL for what is no single value: nothing, or a list of values. */
static LLVMValueRef unwrap(LLVMValueRef wrapper)
{
    LLVMMetadataKind kind = LLVMGetMetadataKind(LLVMValueAsMetadata(wrapper));
    LLVMValueRef value = NULL;

    if (kind == LLVMLocalAsMetadataMetadataKind || kind == LLVMConstantAsMetadataMetadataKind)
        LLVMGetMDNodeOperands(wrapper, &value);
    return value;
}

static void read_call(struct rh_varlocs *vl, LLVMValueRef call, const LLVMValueRef *functions,
                      const struct rh_value *before)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);

    for (size_t i = 0; i < INTRINSIC_COUNT; i++) {
        struct saying said;

        if (callee != functions[i])
            continue;
        said = (struct saying){
            .declares = intrinsics[i].declares,
            .value = unwrap(LLVMGetOperand(call, intrinsics[i].operand)),
            .variable = LLVMValueAsMetadata(LLVMGetOperand(call, 1)),
            .expr = LLVMValueAsMetadata(LLVMGetOperand(call, intrinsics[i].expr)),
            .part = LLVMValueAsMetadata(LLVMGetOperand(call, 2)),
            .location = LLVMInstructionGetDebugLoc(call),
        };
        /* An assignment that no longer says where the variable lives says nothing about it. */
        if (!intrinsics[i].declares || (said.value && !LLVMIsPoison(said.value)))
            add_def(vl, &said, before);
    }
}

/* The block's calls of debug intrinsics are in LLVM's list of instructions but not in ours. */
static void read_block(struct rh_varlocs *vl, const struct rh_block *block)
{
    const struct rh_value *next = block->first;
    LLVMValueRef functions[INTRINSIC_COUNT];

    for (size_t i = 0; i < INTRINSIC_COUNT; i++)
        functions[i] = LLVMGetNamedFunction(vl->m->llvm, intrinsics[i].name);
    for (LLVMValueRef h = LLVMGetFirstInstruction(block->handle); h && next;
         h = LLVMGetNextInstruction(h)) {
        if (h == next->handle)
            next = next->next;
        else if (LLVMGetInstructionOpcode(h) == LLVMCall)
            read_call(vl, h, functions, next);
    }
}

/* LLVM 19 cannot enumerate records; as calls of intrinsics they can be walked. The module is left
 * as it was, without the declarations that this leaves behind. */
static void read_functions(struct rh_varlocs *vl,
                           void (*read)(struct rh_varlocs *vl, const struct rh_function *fn))
{
    LLVMModuleRef llvm = vl->m->llvm;
    bool has_records = LLVMIsNewDbgInfoFormat(llvm);
    bool was_there[INTRINSIC_COUNT];

    for (size_t i = 0; i < INTRINSIC_COUNT; i++)
        was_there[i] = LLVMGetNamedFunction(llvm, intrinsics[i].name);
    if (has_records)
        LLVMSetIsNewDbgInfoFormat(llvm, false);
    for (uint32_t i = 0; i < vl->m->function_count; i++)
        read(vl, vl->m->functions[i]);
    if (!has_records)
        return;
    LLVMSetIsNewDbgInfoFormat(llvm, true);
    for (size_t i = 0; i < INTRINSIC_COUNT; i++) {
        LLVMValueRef declared = LLVMGetNamedFunction(llvm, intrinsics[i].name);

        if (declared && !was_there[i] && !LLVMGetFirstUse(declared))
            LLVMDeleteFunction(declared);
    }
}

#endif

static bool say_the_same(const struct rh_vardef *a, const struct rh_vardef *b)
{
    return a->kind == b->kind && a->value == b->value && a->plus == b->plus;
}

static void link_def(struct rh_varlocs *vl, uint32_t at)
{
    struct rh_vardef *def = &vl->defs.data[at];
    uint32_t first = vl->variables.data[def->variable].first;

    def->same = at;
    for (uint32_t i = at; i-- > first && at - i <= MAX_COMPARED;) {
        if (say_the_same(def, &vl->defs.data[i])) {
            def->same = vl->defs.data[i].same;
            break;
        }
    }
    def->of_value = RH_VARDEF_NONE;
    if (def->value && def->same == at) {
        def->of_value = vl->of_value[def->value->id];
        vl->of_value[def->value->id] = at;
    }
}

/* Moves the fresh definitions to their place, grouped by variable, without changing their order. */
static void settle_defs(struct rh_varlocs *vl, uint32_t first_variable)
{
    uint32_t at = (uint32_t)vl->defs.len;

    rh_vec_each (struct rh_vardef, it, &vl->fresh)
        vl->variables.data[it->variable].count++;
    for (size_t i = first_variable; i < vl->variables.len; i++) {
        vl->variables.data[i].first = at;
        at += vl->variables.data[i].count;
        vl->variables.data[i].count = 0;
    }
    rh_vec_reserve(&vl->defs, vl->fresh.len);
    rh_vec_each (struct rh_vardef, it, &vl->fresh) {
        struct rh_variable *v = &vl->variables.data[it->variable];

        vl->defs.data[v->first + v->count++] = *it;
    }
    for (; vl->defs.len < at; vl->defs.len++)
        link_def(vl, (uint32_t)vl->defs.len);
}

static void read_function(struct rh_varlocs *vl, const struct rh_function *fn)
{
    uint32_t first_variable = (uint32_t)vl->variables.len;

    for (uint32_t i = 0; i < fn->block_count; i++)
        read_block(vl, fn->blocks[i]);
    settle_defs(vl, first_variable);
    rh_vec_clear(&vl->fresh);
    rh_map_release(&vl->first_instance);
}

struct rh_varlocs *rh_varlocs_read(struct rh_module *m, struct rh_ditypes *types)
{
    struct rh_varlocs *vl = rh_calloc(1, sizeof *vl);

    vl->m = m;
    vl->types = types;
    rh_diexprs_init(&vl->exprs, m->context);
    vl->of_value = rh_alloc_array(m->value_count, sizeof *vl->of_value);
    for (uint32_t i = 0; i < m->value_count; i++)
        vl->of_value[i] = RH_VARDEF_NONE;
    read_functions(vl, read_function);
    rh_vec_free(&vl->fresh);
    rh_vec_free(&vl->next_instance);
    return vl;
}

static void forget_function(struct rh_varlocs *vl)
{
    uint64_t set;

    for (size_t at = 0; rh_map_next(&vl->missed, &at, NULL, &set);)
        rh_bitset_release((struct rh_bitset *)(uintptr_t)set);
    rh_map_release(&vl->missed);
    rh_map_release(&vl->states);
    rh_arena_release(&vl->arena);
    vl->kept = 0;
}

void rh_varlocs_free(struct rh_varlocs *vl)
{
    if (!vl)
        return;
    forget_function(vl);
    rh_diexprs_release(&vl->exprs);
    rh_vec_free(&vl->variables);
    rh_vec_free(&vl->defs);
    free(vl->of_value);
    free(vl);
}

const struct rh_vardef *rh_varlocs_def(const struct rh_varlocs *vl, uint32_t def)
{
    return &vl->defs.data[def];
}

const struct rh_variable *rh_varlocs_variable(const struct rh_varlocs *vl, uint32_t variable)
{
    return &vl->variables.data[variable];
}

uint32_t rh_varlocs_of(const struct rh_varlocs *vl, const struct rh_value *value)
{
    return vl->of_value[value->id];
}

/* The last of the variable's definitions that stand before the instruction with this id in the
 * function's order of code; RH_VARDEF_NONE if none does. */
static uint32_t find_last_before(const struct rh_varlocs *vl, const struct rh_variable *v,
                                 uint32_t id)
{
    uint32_t low = 0, high = v->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (vl->defs.data[v->first + middle].before <= id)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? v->first + low - 1 : RH_VARDEF_NONE;
}

static void select_function(struct rh_varlocs *vl, const struct rh_function *fn)
{
    if (vl->fn == fn)
        return;
    forget_function(vl);
    vl->fn = fn;
}

static void flow(const struct rh_function *fn, const uint32_t *ends, uint32_t *states)
{
    struct number_vec work = RH_VEC_INIT;

    states[0] = STATE_NONE;
    rh_vec_push(&work, 0);
    while (work.len > 0) {
        uint32_t at = rh_vec_pop(&work);
        const struct rh_block *b = fn->blocks[at];
        uint32_t end = ends[at] != STATE_UNSEEN ? ends[at] : states[at];

        for (uint32_t i = 0; i < b->succ_count; i++) {
            uint32_t *state = &states[b->succs[i]->id];
            uint32_t joined = *state == STATE_UNSEEN || *state == end ? end : STATE_MIXED;

            if (joined == *state)
                continue;
            *state = joined;
            rh_vec_push(&work, b->succs[i]->id);
        }
    }
    rh_vec_free(&work);
}

/* The variable's definition at the start of each block. */
static const uint32_t *get_states(struct rh_varlocs *vl, uint32_t variable,
                                  const struct rh_function *fn)
{
    const struct rh_variable *v = &vl->variables.data[variable];
    uint32_t *states, *ends;

    select_function(vl, fn);
    states = rh_map_get_ptr(&vl->states, variable);
    if (states)
        return states;
    if (vl->kept + fn->block_count > MAX_KEPT)
        forget_function(vl);
    vl->kept += fn->block_count;
    states = rh_arena_array(&vl->arena, uint32_t, fn->block_count);
    ends = rh_alloc_array(fn->block_count, sizeof *ends);
    for (uint32_t i = 0; i < fn->block_count; i++)
        states[i] = ends[i] = STATE_UNSEEN;
    for (uint32_t i = v->first; i < v->first + v->count; i++)
        ends[vl->defs.data[i].block] = vl->defs.data[i].same;
    flow(fn, ends, states);
    free(ends);
    rh_map_put_ptr(&vl->states, variable, states);
    return states;
}

static uint32_t get_state_before(struct rh_varlocs *vl, uint32_t variable,
                                 const struct rh_block *block, uint32_t id)
{
    uint32_t last = find_last_before(vl, &vl->variables.data[variable], id);
    uint32_t state;

    if (last != RH_VARDEF_NONE && vl->defs.data[last].block == block->id)
        return vl->defs.data[last].same;
    if (block->fn->block_count > MAX_BLOCKS)
        return RH_VARDEF_NONE;
    state = get_states(vl, variable, block->fn)[block->id];
    return state == STATE_MIXED || state == STATE_UNSEEN ? RH_VARDEF_NONE : state;
}

uint32_t rh_varlocs_at(struct rh_varlocs *vl, uint32_t variable, const struct rh_value *inst)
{
    return get_state_before(vl, variable, inst->block, inst->id);
}

uint32_t rh_varlocs_after(struct rh_varlocs *vl, uint32_t variable, const struct rh_block *block)
{
    return get_state_before(vl, variable, block, block->last->id);
}

/* The blocks whose start can be reached from the function's without passing the definition. */
static struct rh_bitset *get_missed(struct rh_varlocs *vl, uint32_t def,
                                    const struct rh_function *fn)
{
    const struct rh_variable *v = &vl->variables.data[vl->defs.data[def].variable];
    struct rh_bitset *missed, saying = RH_BITSET_INIT;
    struct number_vec work = RH_VEC_INIT;

    select_function(vl, fn);
    missed = rh_map_get_ptr(&vl->missed, def);
    if (missed)
        return missed;
    missed = rh_arena_new(&vl->arena, struct rh_bitset);
    rh_map_put_ptr(&vl->missed, def, missed);
    for (uint32_t i = v->first; i < v->first + v->count; i++) {
        if (vl->defs.data[i].same == def)
            rh_bitset_set(&saying, vl->defs.data[i].block);
    }
    rh_bitset_set(missed, 0);
    rh_vec_push(&work, 0);
    while (work.len > 0) {
        const struct rh_block *b = fn->blocks[rh_vec_pop(&work)];

        for (uint32_t i = 0; i < b->succ_count && !rh_bitset_test(&saying, b->id); i++) {
            if (rh_bitset_set(missed, b->succs[i]->id))
                rh_vec_push(&work, b->succs[i]->id);
        }
    }
    rh_vec_free(&work);
    rh_bitset_release(&saying);
    return missed;
}

bool rh_varlocs_passed(struct rh_varlocs *vl, uint32_t def, const struct rh_value *inst)
{
    const struct rh_variable *v = &vl->variables.data[vl->defs.data[def].variable];

    def = vl->defs.data[def].same;
    for (uint32_t i = v->first; i < v->first + v->count; i++) {
        const struct rh_vardef *d = &vl->defs.data[i];

        if (d->same == def && d->block == inst->block->id && d->before <= inst->id)
            return true;
    }
    return inst->fn->block_count <= MAX_BLOCKS &&
           !rh_bitset_test(get_missed(vl, def, inst->fn), inst->block->id);
}
