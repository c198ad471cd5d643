/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets the copies of values meet their originals behind the gates of a twin: see twin.h.
 *
 * How it works: a value of the plain body has one definition there; in the twin it has its copy,
 * and one more definition at the edge of each gate at which it is alive, where it is the original.
 * For each value, the blocks of the twin at whose entry it is alive are found by walking from its
 * uses back to its definitions. If no gate's edge is among the definitions met, which holds for
 * most values, the copies are right as they are. Otherwise each of these blocks learns from those
 * before it what the value is at its entry, and gets a phi where they disagree; then the uses are
 * rewritten.
 */
#include "ir/rewrite/twin.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

#include "base/mem.h"

struct number_vec RH_VEC_BODY(uint32_t);
struct user_vec RH_VEC_BODY(LLVMValueRef);

/* What a block of the twin is, seen from where a run goes. */
struct node {
    LLVMBasicBlockRef block;
    bool is_edge;                    /* of a gate: values are the originals' at its end */
    uint32_t first_pred, pred_count; /* in joining.preds; one for each way in */
    /* of the value at hand: */
    uint32_t alive;     /* number of the last value that was alive at its entry */
    LLVMValueRef value; /* what that is there; NULL while unknown */
    bool has_phi;
};

struct joining {
    const struct rh_twin *twin;
    struct rh_twin_values *values;
    LLVMBuilderRef builder;
    /* Numbers follow the order of execution as far as there are no loops. */
    RH_VEC(struct node) nodes;
    struct number_vec preds;
    /* The value at hand. */
    uint32_t number;
    LLVMValueRef original, copy;
    uint32_t home; /* node of the copy */
    struct number_vec alive;
    struct user_vec users; /* of the copy, that see another block's value */
};

/* --- the blocks of the twin --- */

static uint32_t node_of(const struct joining *j, LLVMBasicBlockRef block)
{
    uint64_t number = UINT32_MAX;
    rh_map_get(&j->values->blocks, rh_map_key(block), &number);
    return (uint32_t)number;
}

/* A block on the way of a walk, and the next of its successors to go to. */
struct step {
    LLVMBasicBlockRef block;
    unsigned next;
};
struct step_vec RH_VEC_BODY(struct step);
struct block_vec RH_VEC_BODY(LLVMBasicBlockRef);

/* Adds the blocks reached from `start` to `order`, each behind all that it leads to. */
static void walk_from(LLVMBasicBlockRef start, struct rh_map *seen, struct step_vec *stack,
                      struct block_vec *order)
{
    if (!rh_map_put(seen, rh_map_key(start), true))
        return;
    rh_vec_push(stack, (struct step){.block = start});
    while (stack->len) {
        struct step *top = &rh_vec_last(stack);
        LLVMValueRef last = LLVMGetBasicBlockTerminator(top->block);
        if (top->next == LLVMGetNumSuccessors(last)) {
            rh_vec_push(order, top->block);
            (void)rh_vec_pop(stack);
            continue;
        }
        LLVMBasicBlockRef to = LLVMGetSuccessor(last, top->next++);
        if (rh_map_put(seen, rh_map_key(to), true))
            rh_vec_push(stack, (struct step){.block = to});
    }
}

/* Numbers the blocks in reverse post-order. */
static void number_nodes(struct joining *j)
{
    struct rh_map seen = RH_MAP_INIT;
    struct step_vec stack = RH_VEC_INIT;
    struct block_vec order = RH_VEC_INIT;
    rh_vec_each (const struct rh_twin_gate, gate, &j->twin->gates)
        walk_from(gate->edge, &seen, &stack, &order);
    rh_vec_each (const struct rh_twin_block, block, &j->twin->blocks)
        walk_from(block->copy, &seen, &stack, &order);
    while (order.len) {
        struct node node = {.block = rh_vec_pop(&order)};
        rh_map_put(&j->values->blocks, rh_map_key(node.block), j->nodes.len);
        rh_vec_push(&j->nodes, node);
    }
    rh_vec_each (const struct rh_twin_gate, gate, &j->twin->gates)
        j->nodes.data[node_of(j, gate->edge)].is_edge = true;
    rh_map_release(&seen);
    rh_vec_free(&stack);
    rh_vec_free(&order);
}

static void count_pred(struct joining *j, uint32_t from, struct node *to)
{
    (void)j;
    (void)from;
    to->pred_count++;
}

static void put_pred(struct joining *j, uint32_t from, struct node *to)
{
    j->preds.data[to->first_pred + to->pred_count++] = from;
}

static void each_way(struct joining *j, void (*visit)(struct joining *, uint32_t, struct node *))
{
    for (uint32_t p = 0; p < j->nodes.len; p++) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(j->nodes.data[p].block);
        unsigned count = LLVMGetNumSuccessors(last);
        for (unsigned s = 0; s < count; s++)
            visit(j, p, &j->nodes.data[node_of(j, LLVMGetSuccessor(last, s))]);
    }
}

static void find_preds(struct joining *j)
{
    uint32_t total = 0;
    each_way(j, count_pred);
    rh_vec_each (struct node, node, &j->nodes) {
        node->first_pred = total;
        total += node->pred_count;
        node->pred_count = 0;
    }
    rh_vec_reserve(&j->preds, total);
    j->preds.len = total;
    each_way(j, put_pred);
}

/* --- where a value is alive --- */

static void add_alive(struct joining *j, uint32_t p)
{
    struct node *node = &j->nodes.data[p];
    if (p == j->home || node->alive == j->number)
        return;
    node->alive = j->number;
    node->value = NULL;
    node->has_phi = false;
    rh_vec_push(&j->alive, p);
}

/* Notes who uses the copy and where it is alive for that; a phi uses it at the end of the blocks it
 * comes from. */
static void add_user(struct joining *j, LLVMValueRef user)
{
    bool sees = false;
    if (LLVMIsAPHINode(user)) {
        unsigned count = LLVMCountIncoming(user);
        for (unsigned i = 0; i < count; i++) {
            if (LLVMGetIncomingValue(user, i) != j->copy)
                continue;
            uint32_t from = node_of(j, LLVMGetIncomingBlock(user, i));
            sees |= from != j->home;
            add_alive(j, from);
        }
    } else {
        uint32_t at = node_of(j, LLVMGetInstructionParent(user));
        sees = at != j->home;
        add_alive(j, at);
    }
    if (sees)
        rh_vec_push(&j->users, user);
}

static void add_users(struct joining *j)
{
    LLVMValueRef before = NULL;
    for (LLVMUseRef use = LLVMGetFirstUse(j->copy); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (user != before) /* the uses of one user mostly stand in a row */
            add_user(j, user);
        before = user;
    }
}

/* Completes j->alive; whether an original is met on the way. */
static bool walk_back(struct joining *j)
{
    bool meets = false;
    for (size_t i = 0; i < j->alive.len; i++) {
        const struct node *node = &j->nodes.data[j->alive.data[i]];
        for (uint32_t k = 0; k < node->pred_count; k++) {
            uint32_t pred = j->preds.data[node->first_pred + k];
            if (j->nodes.data[pred].is_edge)
                meets = true;
            else
                add_alive(j, pred);
        }
    }
    return meets;
}

/* --- what it is there --- */

static LLVMValueRef value_behind(const struct joining *j, uint32_t p)
{
    const struct node *node = &j->nodes.data[p];
    if (p == j->home)
        return j->copy;
    return node->is_edge ? j->original : node->value;
}

static LLVMValueRef add_phi(struct joining *j, LLVMBasicBlockRef block)
{
    LLVMPositionBuilderBeforeInstrAndDbgRecords(j->builder, LLVMGetFirstInstruction(block));
    LLVMValueRef phi = LLVMBuildPhi(j->builder, LLVMTypeOf(j->copy), "");
    LLVMInstructionSetDebugLoc(phi, NULL);
    return phi;
}

/* What the blocks before this one say; a phi if they disagree. Those not known yet have no say. */
static LLVMValueRef ask_preds(struct joining *j, struct node *node)
{
    LLVMValueRef said = NULL;
    for (uint32_t k = 0; k < node->pred_count; k++) {
        LLVMValueRef value = value_behind(j, j->preds.data[node->first_pred + k]);
        if (!value || value == said)
            continue;
        if (said) {
            node->has_phi = true;
            return add_phi(j, node->block);
        }
        said = value;
    }
    return said;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void spread(struct joining *j)
{
    qsort(j->alive.data, j->alive.len, sizeof *j->alive.data, compare_numbers);
    for (bool changed = true; changed;) {
        changed = false;
        rh_vec_each (uint32_t, p, &j->alive) {
            struct node *node = &j->nodes.data[*p];
            if (node->has_phi)
                continue;
            LLVMValueRef value = ask_preds(j, node);
            changed |= value != node->value;
            node->value = value;
        }
    }
}

static void fill_phis(struct joining *j)
{
    rh_vec_each (uint32_t, p, &j->alive) {
        const struct node *node = &j->nodes.data[*p];
        if (!node->has_phi)
            continue;
        for (uint32_t k = 0; k < node->pred_count; k++) {
            uint32_t pred = j->preds.data[node->first_pred + k];
            LLVMValueRef value = value_behind(j, pred);
            LLVMAddIncoming(node->value, &value, &j->nodes.data[pred].block, 1);
        }
    }
}

static void rewrite_user(struct joining *j, LLVMValueRef user)
{
    bool is_phi = LLVMIsAPHINode(user);
    unsigned count = is_phi ? LLVMCountIncoming(user) : (unsigned)LLVMGetNumOperands(user);
    for (unsigned i = 0; i < count; i++) {
        if (LLVMGetOperand(user, i) != j->copy)
            continue;
        LLVMBasicBlockRef at =
            is_phi ? LLVMGetIncomingBlock(user, i) : LLVMGetInstructionParent(user);
        LLVMSetOperand(user, i, value_behind(j, node_of(j, at)));
    }
}

/* Notes for debug information where the value is not its copy. A limit keeps a function of very
 * many blocks and values from taking all memory; beyond, variables may not be shown. */
static void note_values(struct joining *j)
{
    enum { MOST_NOTES = 4000000 };
    rh_map_put(&j->values->numbers, rh_map_key(j->original), j->number);
    rh_vec_each (uint32_t, p, &j->alive)
        if (j->values->joined.len < MOST_NOTES && j->nodes.data[*p].value != j->copy)
            rh_map_put_ptr(&j->values->joined, (uint64_t)j->number << 32 | *p,
                           j->nodes.data[*p].value);
}

/* --- what is made anew --- */

static bool is_used_as_address(LLVMValueRef value)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool loads = LLVMIsALoadInst(user);
        bool stores = LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != value;
        if (!loads && !stores)
            return false;
    }
    return true;
}

static bool has_constant_indices(LLVMValueRef gep)
{
    int count = LLVMGetNumOperands(gep);
    for (int i = 1; i < count; i++)
        if (!LLVMIsAConstantInt(LLVMGetOperand(gep, (unsigned)i)))
            return false;
    return true;
}

/* What code generation makes anew where it is used, as a part of that instruction: addresses and
 * comparisons. If they were joined, they would take a register in both bodies. */
static bool is_cheap(LLVMValueRef value)
{
    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind)
        return false;
    if (LLVMIsAGetElementPtrInst(value))
        return has_constant_indices(value) || is_used_as_address(value);
    return LLVMIsAICmpInst(value) || LLVMIsAFCmpInst(value) || LLVMIsAPtrToIntInst(value) ||
           LLVMIsAIntToPtrInst(value);
}

/* Makes a value anew before an instruction, with those of its operands that are cheap too, as far
 * as `depth` goes. */
static LLVMValueRef remake(struct joining *j, LLVMValueRef value, LLVMValueRef before, int depth)
{
    LLVMValueRef made = LLVMInstructionClone(value);
    int count = LLVMGetNumOperands(made);
    for (int i = 0; i < count; i++) {
        LLVMValueRef operand = LLVMGetOperand(made, (unsigned)i);
        if (depth && LLVMIsAInstruction(operand) && is_cheap(operand))
            LLVMSetOperand(made, (unsigned)i, remake(j, operand, before, depth - 1));
    }
    LLVMPositionBuilderBefore(j->builder, before);
    LLVMInsertIntoBuilder(j->builder, made);
    return made;
}

enum { MOST_REMADE = 4 }; /* one from another */

/* Ways in from one block must bring one value. */
static LLVMValueRef brought_before(LLVMValueRef phi, unsigned way)
{
    for (unsigned i = 0; i < way; i++)
        if (LLVMGetIncomingBlock(phi, i) == LLVMGetIncomingBlock(phi, way))
            return LLVMGetIncomingValue(phi, i);
    return NULL;
}

static void remake_for_phi(struct joining *j, LLVMValueRef phi)
{
    unsigned count = LLVMCountIncoming(phi);
    for (unsigned i = 0; i < count; i++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
        if (LLVMGetIncomingValue(phi, i) != j->copy || node_of(j, from) == j->home)
            continue;
        LLVMValueRef value = brought_before(phi, i);
        if (!value)
            value = remake(j, j->copy, LLVMGetBasicBlockTerminator(from), MOST_REMADE);
        LLVMSetOperand(phi, i, value);
    }
}

/* Gives a user a value of its own. */
static void remake_for(struct joining *j, LLVMValueRef user)
{
    if (LLVMIsAPHINode(user)) {
        remake_for_phi(j, user);
        return;
    }
    LLVMValueRef made = remake(j, j->copy, user, MOST_REMADE);
    unsigned count = (unsigned)LLVMGetNumOperands(user);
    for (unsigned i = 0; i < count; i++)
        if (LLVMGetOperand(user, i) == j->copy)
            LLVMSetOperand(user, i, made);
}

/* --- all values --- */

/* Turns to a value; whether its copy is not right everywhere. */
static bool turn_to(struct joining *j, LLVMValueRef original, LLVMValueRef copy)
{
    if (!LLVMGetFirstUse(copy))
        return false;
    j->number++;
    j->original = original;
    j->copy = copy;
    j->home = node_of(j, LLVMGetInstructionParent(copy));
    rh_vec_clear(&j->alive);
    rh_vec_clear(&j->users);
    add_users(j);
    return walk_back(j);
}

static void remake_value(struct joining *j, LLVMValueRef original, LLVMValueRef copy)
{
    if (!is_cheap(original) || !turn_to(j, original, copy))
        return;
    rh_vec_each (LLVMValueRef, user, &j->users)
        remake_for(j, *user);
}

static void join_value(struct joining *j, LLVMValueRef original, LLVMValueRef copy)
{
    if (!turn_to(j, original, copy))
        return;
    spread(j);
    fill_phis(j);
    rh_vec_each (LLVMValueRef, user, &j->users)
        rewrite_user(j, *user);
    note_values(j);
}

static void each_copy(struct joining *j,
                      void (*visit)(struct joining *, LLVMValueRef, LLVMValueRef))
{
    uint64_t original;
    for (size_t at = 0; rh_map_next(&j->twin->copies, &at, &original, NULL);) {
        LLVMValueRef inst = LLVMIsAInstruction((LLVMValueRef)(uintptr_t)original);
        if (inst)
            visit(j, inst, rh_map_get_ptr(&j->twin->copies, original));
    }
}

void rh_twin_join(const struct rh_twin *twin, struct rh_twin_values *values)
{
    if (!twin->gates.len)
        return; /* the entry alone: no value was there before */
    struct joining j = {
        .twin = twin,
        .values = values,
        .builder = LLVMCreateBuilderInContext(twin->module->context),
    };
    number_nodes(&j);
    find_preds(&j);
    each_copy(&j, remake_value); /* first: it uses other values at more points */
    each_copy(&j, join_value);
    LLVMDisposeBuilder(j.builder);
    rh_vec_free(&j.nodes);
    rh_vec_free(&j.preds);
    rh_vec_free(&j.alive);
    rh_vec_free(&j.users);
}

LLVMValueRef rh_twin_value_in(const struct rh_twin_values *values, LLVMBasicBlockRef block,
                              LLVMValueRef value)
{
    LLVMValueRef copy = rh_map_get_ptr(&values->twin->copies, rh_map_key(value));
    uint64_t number, node = 0;
    if (!copy)
        return value;
    if (!rh_map_get(&values->numbers, rh_map_key(value), &number))
        return copy;
    rh_map_get(&values->blocks, rh_map_key(block), &node);
    LLVMValueRef joined = rh_map_get_ptr(&values->joined, number << 32 | node);
    return joined ? joined : copy;
}

void rh_twin_values_release(struct rh_twin_values *values)
{
    rh_map_release(&values->numbers);
    rh_map_release(&values->joined);
    rh_map_release(&values->blocks);
}
