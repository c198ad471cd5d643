/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Giving a loop of a twin a copy without the assembly that was put into it: see rewrite.h.
 *
 * How it works: before
 *
 *     ways in -> header ... -> exits
 *
 * and after
 *
 *     ways in -> door --falls through--> edge -> copy of header ... -> the same exits
 *                 |                                                        ^
 *               jumps ----------------> edge -> header ... ----------------'
 *
 * The door has the phis of the ways in. The phis of the exits have one more way in for each from
 * the loop. A value of the loop that is used behind it other than by these phis gets a phi in the
 * exit, of which there must then be only one: every way to such a use goes through it, because it
 * goes through the loop, so that there, and wherever else the exit is entered from, the phi is the
 * value. Everything is checked before anything is changed.
 *
 * Debug information of variables is copied with the loop. What it says behind the loop of a value
 * of the loop's stays as it is, and is stale after the copy has run.
 */
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "base/map.h"
#include "base/vec.h"
#include "ir/module.h"
#include "ir/rewrite/debug_vars.h"
#include "ir/rewrite/llvm_kit.h"
#include "ir/rewrite/rewrite.h"

struct value_vec RH_VEC_BODY(LLVMValueRef);
struct block_vec RH_VEC_BODY(LLVMBasicBlockRef);

struct bypass {
    LLVMContextRef context;
    LLVMBuilderRef builder;
    struct rh_debug_vars debug_vars;
    LLVMValueRef function;
    LLVMBasicBlockRef header;
    struct block_vec blocks;
    struct rh_map copies; /* the loop's blocks and instructions -> their copies, or NULL */
    struct block_vec exits;
    struct value_vec used_behind; /* values with uses that no phi of an exit stands for */
};

static enum rh_status refuse(const char *why)
{
    return rh_fail(RH_ERR_UNSUPPORTED, "loop cannot be passed by: %s", why);
}

static bool is_inside(const struct bypass *b, LLVMBasicBlockRef block)
{
    return rh_map_has(&b->copies, rh_map_key(LLVMBasicBlockAsValue(block)));
}

static LLVMValueRef copy_of(const struct bypass *b, LLVMValueRef value)
{
    LLVMValueRef copy = rh_map_get_ptr(&b->copies, rh_map_key(value));
    return copy ? copy : value;
}

static LLVMBasicBlockRef block_copy(const struct bypass *b, LLVMBasicBlockRef block)
{
    return LLVMValueAsBasicBlock(copy_of(b, LLVMBasicBlockAsValue(block)));
}

/* --- checks --- */

static bool can_end_a_block(LLVMValueRef last)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(last);
    return op == LLVMBr || op == LLVMSwitch;
}

static bool is_entered_elsewhere(const struct bypass *b, LLVMBasicBlockRef block)
{
    for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsAInstruction(user) || !is_inside(b, LLVMGetInstructionParent(user)))
            return true;
    }
    return false;
}

static void add_exit(struct bypass *b, LLVMBasicBlockRef exit)
{
    rh_vec_each (LLVMBasicBlockRef, known, &b->exits)
        if (*known == exit)
            return;
    rh_vec_push(&b->exits, exit);
}

static enum rh_status check_block(struct bypass *b, LLVMBasicBlockRef block)
{
    LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
    if (!can_end_a_block(last))
        return refuse("a block ends in something else than a branch");
    if (block != b->header && is_entered_elsewhere(b, block))
        return refuse("it has several entries");
    unsigned targets = LLVMGetNumSuccessors(last);
    for (unsigned i = 0; i < targets; i++)
        if (!is_inside(b, LLVMGetSuccessor(last, i)))
            add_exit(b, LLVMGetSuccessor(last, i));
    return RH_OK;
}

/* Is operand `i` of an instruction read in the loop, or on a way out of it? */
static bool is_used_inside(const struct bypass *b, LLVMValueRef user, unsigned i)
{
    return is_inside(b, LLVMIsAPHINode(user) ? LLVMGetIncomingBlock(user, i)
                                             : LLVMGetInstructionParent(user));
}

static bool has_use_behind(const struct bypass *b, LLVMValueRef user, LLVMValueRef value)
{
    int count = LLVMGetNumOperands(user);
    for (int i = 0; i < count; i++)
        if (LLVMGetOperand(user, (unsigned)i) == value && !is_used_inside(b, user, (unsigned)i))
            return true;
    return false;
}

static void find_uses_behind(struct bypass *b, LLVMValueRef value)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsAInstruction(user) && has_use_behind(b, user, value)) {
            rh_vec_push(&b->used_behind, value);
            return;
        }
    }
}

static enum rh_status check_loop(struct bypass *b)
{
    enum rh_status status = RH_OK;
    rh_vec_each (LLVMBasicBlockRef, block, &b->blocks)
        if (status == RH_OK)
            status = check_block(b, *block);
    if (status != RH_OK)
        return status;
    rh_vec_each (LLVMBasicBlockRef, block, &b->blocks)
        for (LLVMValueRef it = LLVMGetFirstInstruction(*block); it; it = LLVMGetNextInstruction(it))
            find_uses_behind(b, it);
    if (b->used_behind.len && b->exits.len != 1)
        return refuse("its values are used behind several exits");
    return RH_OK;
}

/* --- the way in --- */

static LLVMBasicBlockRef append_block(const struct bypass *b)
{
    return LLVMAppendBasicBlockInContext(b->context, b->function, "");
}

static LLVMValueRef build_phi(struct bypass *b, LLVMValueRef like)
{
    LLVMValueRef phi = LLVMBuildPhi(b->builder, LLVMTypeOf(like), "");
    LLVMInstructionSetDebugLoc(phi, LLVMInstructionGetDebugLoc(like));
    if (LLVMIsAPHINode(like) && LLVMCanValueUseFastMathFlags(like))
        LLVMSetFastMathFlags(phi, LLVMGetFastMathFlags(like));
    return phi;
}

static void redirect_ways_in(struct bypass *b, LLVMBasicBlockRef door)
{
    struct value_vec ways = RH_VEC_INIT;
    for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(b->header)); use;
         use = LLVMGetNextUse(use))
        if (!is_inside(b, LLVMGetInstructionParent(LLVMGetUser(use))))
            rh_vec_push(&ways, LLVMGetUser(use));
    rh_vec_each (LLVMValueRef, way, &ways) {
        unsigned targets = LLVMGetNumSuccessors(*way);
        for (unsigned i = 0; i < targets; i++)
            if (LLVMGetSuccessor(*way, i) == b->header)
                LLVMSetSuccessor(*way, i, door);
    }
    rh_vec_free(&ways);
}

/* Parts a phi of the header: what comes from outside is joined in the door. An old phi's blocks
 * cannot be changed, so it is built anew. */
static LLVMValueRef part_phi(struct bypass *b, LLVMValueRef phi, LLVMBasicBlockRef door,
                             LLVMBasicBlockRef edge)
{
    LLVMPositionBuilderAtEnd(b->builder, door);
    LLVMValueRef outside = build_phi(b, phi);
    LLVMPositionBuilderBefore(b->builder, phi);
    LLVMValueRef inside = build_phi(b, phi);
    LLVMAddIncoming(inside, &outside, &edge, 1);
    unsigned count = LLVMCountIncoming(phi);
    for (unsigned i = 0; i < count; i++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
        LLVMValueRef value = LLVMGetIncomingValue(phi, i);
        LLVMAddIncoming(is_inside(b, from) ? inside : outside, &value, &from, 1);
    }
    LLVMReplaceAllUsesWith(phi, inside);
    LLVMInstructionEraseFromParent(phi);
    rh_vec_each (LLVMValueRef, value, &b->used_behind)
        if (*value == phi)
            *value = inside;
    return inside;
}

static void part_phis(struct bypass *b, LLVMBasicBlockRef door, LLVMBasicBlockRef edge)
{
    LLVMValueRef it = LLVMGetFirstInstruction(b->header);
    while (LLVMIsAPHINode(it))
        it = LLVMGetNextInstruction(part_phi(b, it, door, edge));
}

static void build_branch(struct bypass *b, LLVMBasicBlockRef from, LLVMBasicBlockRef to,
                         LLVMMetadataRef loc)
{
    LLVMPositionBuilderAtEnd(b->builder, from);
    LLVMInstructionSetDebugLoc(LLVMBuildBr(b->builder, to), loc);
}

/* --- the copy --- */

static void copy_block(struct bypass *b, LLVMBasicBlockRef block)
{
    LLVMPositionBuilderAtEnd(b->builder, block_copy(b, block));
    for (LLVMValueRef it = LLVMGetFirstInstruction(block); it; it = LLVMGetNextInstruction(it)) {
        LLVMValueRef copy;
        if (rh_llvm_is_inserted(it) || rh_debug_vars_said_once(it))
            continue;
        if (LLVMIsAPHINode(it)) {
            copy = build_phi(b, it);
        } else {
            copy = LLVMInstructionClone(it);
            LLVMInsertIntoBuilder(b->builder, copy);
            /* The builder has stood at instructions, and gives what it inserts their location. */
            LLVMInstructionSetDebugLoc(copy, LLVMInstructionGetDebugLoc(it));
        }
        rh_map_put_ptr(&b->copies, rh_map_key(it), copy);
    }
}

/* `edge` and `own_edge` are the ways into the loop and into its copy. */
static void connect_phi(struct bypass *b, LLVMValueRef phi, LLVMBasicBlockRef edge,
                        LLVMBasicBlockRef own_edge)
{
    unsigned count = LLVMCountIncoming(phi);
    for (unsigned i = 0; i < count; i++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
        LLVMBasicBlockRef own = from == edge ? own_edge : block_copy(b, from);
        LLVMValueRef value = copy_of(b, LLVMGetIncomingValue(phi, i));
        LLVMAddIncoming(copy_of(b, phi), &value, &own, 1);
    }
}

static void connect(struct bypass *b, LLVMValueRef inst)
{
    LLVMValueRef copy = copy_of(b, inst);
    int count = LLVMGetNumOperands(copy);
    for (int i = 0; i < count; i++)
        LLVMSetOperand(copy, (unsigned)i, copy_of(b, LLVMGetOperand(copy, (unsigned)i)));
}

static LLVMValueRef said_value(void *b, LLVMValueRef value)
{
    return copy_of(b, value);
}

static void copy_loop(struct bypass *b, LLVMBasicBlockRef edge, LLVMBasicBlockRef own_edge)
{
    rh_vec_each (LLVMBasicBlockRef, block, &b->blocks)
        copy_block(b, *block);
    rh_vec_each (LLVMBasicBlockRef, block, &b->blocks) {
        for (LLVMValueRef it = LLVMGetFirstInstruction(*block); it;
             it = LLVMGetNextInstruction(it)) {
            LLVMValueRef copy = rh_map_get_ptr(&b->copies, rh_map_key(it));
            if (!copy)
                continue;
            if (LLVMIsAPHINode(it))
                connect_phi(b, it, edge, own_edge);
            else
                connect(b, it);
            rh_debug_vars_copy(&b->debug_vars, it, copy, said_value, b);
        }
    }
}

/* --- the ways out --- */

static void complete_exit(struct bypass *b, LLVMBasicBlockRef exit)
{
    for (LLVMValueRef phi = LLVMGetFirstInstruction(exit); LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi)) {
        unsigned count = LLVMCountIncoming(phi);
        for (unsigned i = 0; i < count; i++) {
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
            LLVMValueRef value = copy_of(b, LLVMGetIncomingValue(phi, i));
            if (!is_inside(b, from))
                continue;
            from = block_copy(b, from);
            LLVMAddIncoming(phi, &value, &from, 1);
        }
    }
}

static void replace_behind(struct bypass *b, LLVMValueRef value, LLVMValueRef by)
{
    struct value_vec users = RH_VEC_INIT;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use))
        if (LLVMIsAInstruction(LLVMGetUser(use)) && LLVMGetUser(use) != by)
            rh_vec_push(&users, LLVMGetUser(use));
    rh_vec_each (LLVMValueRef, user, &users) {
        int count = LLVMGetNumOperands(*user);
        for (int i = 0; i < count; i++)
            if (LLVMGetOperand(*user, (unsigned)i) == value &&
                !is_used_inside(b, *user, (unsigned)i))
                LLVMSetOperand(*user, (unsigned)i, by);
    }
    rh_vec_free(&users);
}

/* The exit's phi of a value that is used behind it: where it is not entered from the loop or its
 * copy, that is the value already. */
static void join_behind(struct bypass *b, LLVMValueRef value, struct rh_map *copied)
{
    LLVMBasicBlockRef exit = b->exits.data[0];
    LLVMPositionBuilderBeforeInstrAndDbgRecords(b->builder, LLVMGetFirstInstruction(exit));
    LLVMValueRef phi = build_phi(b, value), copy = copy_of(b, value);
    for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(exit)); use;
         use = LLVMGetNextUse(use)) {
        LLVMBasicBlockRef from = LLVMGetInstructionParent(LLVMGetUser(use));
        bool by_copy = rh_map_has(copied, rh_map_key(from));
        LLVMValueRef incoming = is_inside(b, from) ? value : by_copy ? copy : phi;
        LLVMAddIncoming(phi, &incoming, &from, 1);
    }
    replace_behind(b, value, phi);
}

static void join_all_behind(struct bypass *b)
{
    struct rh_map copied = RH_MAP_INIT;
    rh_vec_each (LLVMBasicBlockRef, block, &b->blocks)
        rh_map_put(&copied, rh_map_key(block_copy(b, *block)), 0);
    rh_vec_each (LLVMValueRef, value, &b->used_behind)
        join_behind(b, *value, &copied);
    rh_map_release(&copied);
}

/* --- the whole --- */

static void build(struct bypass *b, const char *text, const char *constraints)
{
    LLVMBasicBlockRef door = append_block(b), edge = append_block(b), own_edge = append_block(b);
    LLVMMetadataRef loc =
        LLVMInstructionGetDebugLoc(LLVMGetBasicBlockTerminator(b->blocks.data[0]));
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(b->context), NULL, 0, false);
    rh_vec_each (LLVMBasicBlockRef, block, &b->blocks)
        rh_map_put_ptr(&b->copies, rh_map_key(LLVMBasicBlockAsValue(*block)),
                       LLVMBasicBlockAsValue(append_block(b)));
    redirect_ways_in(b, door);
    part_phis(b, door, edge);
    copy_loop(b, edge, own_edge);
    build_branch(b, edge, b->header, loc);
    build_branch(b, own_edge, block_copy(b, b->header), loc);
    LLVMPositionBuilderAtEnd(b->builder, door);
    LLVMValueRef gate = LLVMBuildCallBr(b->builder, type, rh_llvm_asm(type, text, constraints),
                                        own_edge, &edge, 1, NULL, 0, NULL, 0, "");
    LLVMInstructionSetDebugLoc(gate, loc);
    rh_vec_each (LLVMBasicBlockRef, exit, &b->exits)
        complete_exit(b, *exit);
    join_all_behind(b);
}

enum rh_status rh_rewrite_bypass(struct rh_module *m, void *const *blocks, uint32_t count,
                                 const char *text, const char *constraints)
{
    struct bypass b = {.context = m->context, .header = blocks[0]};
    b.function = LLVMGetBasicBlockParent(b.header);
    for (uint32_t i = 0; i < count; i++) {
        rh_vec_push(&b.blocks, blocks[i]);
        rh_map_put_ptr(&b.copies, rh_map_key(LLVMBasicBlockAsValue(blocks[i])), NULL);
    }
    enum rh_status status = check_loop(&b);
    if (status == RH_OK) {
        b.builder = LLVMCreateBuilderInContext(m->context);
        rh_debug_vars_begin(&b.debug_vars, m->llvm);
        build(&b, text, constraints);
        rh_debug_vars_end(&b.debug_vars);
        LLVMDisposeBuilder(b.builder);
    }
    rh_vec_free(&b.blocks);
    rh_vec_free(&b.exits);
    rh_vec_free(&b.used_behind);
    rh_map_release(&b.copies);
    return status;
}
