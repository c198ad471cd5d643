/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Giving a function a second body, its twin, and gates that lead there: see rewrite.h.
 *
 * How it works: before
 *
 *     entry -> ... -> header ... -> returns
 *
 * and after, with gates at the entry and at the header
 *
 *     allocas --falls through--> entry -> ... -> phis --falls through--> header ... -> returns
 *        |                                        |
 *      jumps                                    jumps
 *        |                                      edge
 *        v                                        v
 *     copy of entry -> ... -------------> copy of phis and header ... -> the same returns
 *
 * Stack memory of fixed size, arguments and blocks that only return belong to both: were the latter
 * copied, code generation would find no common end of the ways that need saved registers, and save
 * them for all ways. The edge is there because the assembly's edges must not be critical; the
 * copies of the header's phis take the originals' values from it. What else is alive at a gate is
 * joined by twin_join.c. Only blocks that a gate leads to are copied. Everything is checked before
 * anything is changed.
 */
#include "ir/rewrite/twin.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "base/mem.h"
#include "ir/rewrite/debug_vars.h"
#include "ir/rewrite/llvm_kit.h"
#include "ir/rewrite/rewrite.h"

struct block_vec RH_VEC_BODY(LLVMBasicBlockRef);

/* The job of making a twin. */
struct making {
    struct rh_twin *twin;
    LLVMContextRef context;
    LLVMBuilderRef builder; /* stands only ever at the end of a block */
    struct block_vec ends;  /* blocks of both bodies */
    const char *text, *constraints;
};

static enum rh_status refuse(const char *why)
{
    return rh_fail(RH_ERR_UNSUPPORTED, "function cannot have a twin: %s", why);
}

/* --- what can be copied --- */

static bool call_has(LLVMValueRef call, const char *attribute)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(attribute, strlen(attribute));
    LLVMAttributeIndex index = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
    return LLVMGetCallSiteEnumAttribute(call, index, kind) ||
           (callee && LLVMGetEnumAttributeAtIndex(callee, index, kind));
}

static bool is_symbol_char(char ch)
{
    return ch == '_' || ch == '.' || ch == '$' || (ch >= '0' && ch <= '9') ||
           ((ch | 0x20) >= 'a' && (ch | 0x20) <= 'z');
}

/* Whether assembly defines a label that would exist twice in a copy; numbered labels may. */
static bool defines_label(LLVMValueRef assembly)
{
    size_t len;
    const char *text = LLVMGetInlineAsmAsmString(assembly, &len);
    size_t start = 0; /* of the word that ends at i */
    for (size_t i = 0; i < len; i++) {
        if (is_symbol_char(text[i]))
            continue;
        bool is_word = i > start && !(text[start] >= '0' && text[start] <= '9');
        bool opens_statement = start == 0 || strchr(" \t\n;\"", text[start - 1]);
        if (text[i] == ':' && is_word && opens_statement)
            return true;
        start = i + 1;
    }
    return false;
}

/* Intrinsics that may stand in a function only once, or whose effect is tied to their place. */
static bool is_single(LLVMValueRef callee)
{
    static const char *const prefixes[] = {"llvm.localescape", "llvm.eh.sjlj."};
    if (!LLVMIsAFunction(callee) || !LLVMGetIntrinsicID(callee))
        return false;
    const char *name = LLVMGetValueName(callee);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static const char *why_call_is_unfit(LLVMValueRef call)
{
    if (call_has(call, "noduplicate"))
        return "it holds a call that must not be duplicated";
    if (call_has(call, "convergent"))
        return "it holds a convergent call";
    if (call_has(call, "returns_twice"))
        return "it holds a call that may return twice";
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMIsAInlineAsm(callee) && defines_label(callee))
        return "it holds assembly that defines a symbol";
    if (is_single(callee))
        return "it holds an intrinsic that must not be duplicated";
    return NULL;
}

static const char *why_unfit(LLVMValueRef inst)
{
    if (LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMTokenTypeKind)
        return "it holds a token";
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMCleanupPad:
    case LLVMCatchPad:
    case LLVMCatchSwitch:
    case LLVMCleanupRet:
    case LLVMCatchRet:
        return "it handles exceptions by funclets";
    case LLVMIndirectBr:
    case LLVMCallBr:
        return "it holds an indirect jump";
    case LLVMCall:
    case LLVMInvoke:
        return why_call_is_unfit(inst);
    default:
        return NULL;
    }
}

/* Whether something else than jumps names the block. */
static bool is_address_taken(LLVMBasicBlockRef block)
{
    for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use;
         use = LLVMGetNextUse(use))
        if (!LLVMIsAInstruction(LLVMGetUser(use)))
            return true;
    return false;
}

static enum rh_status check_block(LLVMBasicBlockRef block)
{
    if (is_address_taken(block))
        return refuse("the address of one of its blocks is taken");
    for (LLVMValueRef it = LLVMGetFirstInstruction(block); it; it = LLVMGetNextInstruction(it)) {
        const char *why = why_unfit(it);
        if (why)
            return refuse(why);
    }
    return RH_OK;
}

static enum rh_status check_function(LLVMValueRef function)
{
    enum rh_status status = RH_OK;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b && status == RH_OK;
         b = LLVMGetNextBasicBlock(b))
        status = check_block(b);
    return status;
}

/* --- the places of gates --- */

static bool is_entry(const struct rh_block *block)
{
    return block->id == 0;
}

/* What the gate of a block stands before: behind the phis, and in the entry behind the stack
 * memory of fixed size. */
static struct rh_value *gate_place(const struct rh_block *block)
{
    struct rh_value *at = block->first;
    while (at->op == RH_OP_PHI || (is_entry(block) && at->op == RH_OP_ALLOCA &&
                                   LLVMIsAConstantInt(LLVMGetOperand(at->handle, 0))))
        at = at->next;
    return at;
}

static bool is_shared_end(LLVMBasicBlockRef block)
{
    LLVMValueRef first = LLVMGetFirstInstruction(block);
    while (LLVMIsAPHINode(first))
        first = LLVMGetNextInstruction(first);
    return LLVMIsAReturnInst(first) && LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
}

static bool can_gate(const struct rh_block *block)
{
    struct rh_value *place = gate_place(block);
    return place->op != RH_OP_LANDINGPAD && !is_shared_end(LLVMGetInstructionParent(place->handle));
}

/* --- copying --- */

static void put_copy(struct rh_twin *t, LLVMValueRef original, LLVMValueRef copy)
{
    rh_map_put_ptr(&t->copies, rh_map_key(original), copy);
}

static LLVMValueRef get_copy(const struct rh_twin *t, LLVMValueRef original)
{
    return rh_map_get_ptr(&t->copies, rh_map_key(original));
}

static LLVMBasicBlockRef block_copy(const struct rh_twin *t, LLVMBasicBlockRef block)
{
    LLVMValueRef copy = get_copy(t, LLVMBasicBlockAsValue(block));
    return copy ? LLVMValueAsBasicBlock(copy) : NULL;
}

static void add_reached(struct rh_map *reached, struct block_vec *todo, LLVMBasicBlockRef block)
{
    if (rh_map_put(reached, rh_map_key(block), true))
        rh_vec_push(todo, block);
}

/* Makes an empty copy of each block that a gate leads to. */
static void make_blocks(struct making *k, struct rh_block *const *gates, uint32_t count)
{
    struct rh_twin *t = k->twin;
    struct rh_map reached = RH_MAP_INIT;
    struct block_vec todo = RH_VEC_INIT;
    for (uint32_t g = 0; g < count; g++)
        if (can_gate(gates[g]))
            add_reached(&reached, &todo, LLVMGetInstructionParent(gate_place(gates[g])->handle));
    while (todo.len) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(rh_vec_pop(&todo));
        unsigned targets = LLVMGetNumSuccessors(last);
        for (unsigned i = 0; i < targets; i++)
            add_reached(&reached, &todo, LLVMGetSuccessor(last, i));
    }
    LLVMBasicBlockRef end = LLVMGetLastBasicBlock(t->function);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(t->function);; b = LLVMGetNextBasicBlock(b)) {
        if (rh_map_has(&reached, rh_map_key(b)) && is_shared_end(b)) {
            rh_vec_push(&k->ends, b);
        } else if (rh_map_has(&reached, rh_map_key(b))) {
            LLVMBasicBlockRef copy = LLVMAppendBasicBlockInContext(k->context, t->function, "");
            put_copy(t, LLVMBasicBlockAsValue(b), LLVMBasicBlockAsValue(copy));
            rh_vec_push(&t->blocks, (struct rh_twin_block){b, copy});
        }
        if (b == end)
            break;
    }
    rh_map_release(&reached);
    rh_vec_free(&todo);
}

/* A phi is built anew, because the blocks of a clone could not be changed. */
static LLVMValueRef copy_phi(struct making *k, LLVMValueRef phi)
{
    LLVMValueRef copy = LLVMBuildPhi(k->builder, LLVMTypeOf(phi), "");
    LLVMInstructionSetDebugLoc(copy, LLVMInstructionGetDebugLoc(phi));
    if (LLVMCanValueUseFastMathFlags(phi))
        LLVMSetFastMathFlags(copy, LLVMGetFastMathFlags(phi));
    return copy;
}

static void fill_block(struct making *k, const struct rh_twin_block *block)
{
    LLVMPositionBuilderAtEnd(k->builder, block->copy);
    for (LLVMValueRef it = LLVMGetFirstInstruction(block->plain); it;
         it = LLVMGetNextInstruction(it)) {
        if (rh_debug_vars_said_once(it))
            continue;
        LLVMValueRef inst;
        if (LLVMIsAPHINode(it)) {
            inst = copy_phi(k, it);
        } else {
            inst = LLVMInstructionClone(it);
            LLVMInsertIntoBuilder(k->builder, inst);
        }
        put_copy(k->twin, it, inst);
    }
}

/* Ways in that have no copy are left out. */
static void connect_phi(const struct rh_twin *t, LLVMValueRef phi, LLVMValueRef copy)
{
    unsigned count = LLVMCountIncoming(phi);
    for (unsigned i = 0; i < count; i++) {
        LLVMBasicBlockRef from = block_copy(t, LLVMGetIncomingBlock(phi, i));
        if (!from)
            continue;
        LLVMValueRef value = LLVMGetIncomingValue(phi, i);
        LLVMValueRef mapped = get_copy(t, value);
        LLVMAddIncoming(copy, mapped ? &mapped : &value, &from, 1);
    }
}

/* --- the ends --- */

/* Lets a block return what its phi says, so that the twin can say something else. */
static void return_phi(struct making *k, LLVMBasicBlockRef end)
{
    LLVMValueRef last = LLVMGetBasicBlockTerminator(end);
    LLVMValueRef value = LLVMGetNumOperands(last) ? LLVMGetOperand(last, 0) : NULL;
    if (!value || !LLVMIsAInstruction(value) || LLVMGetInstructionParent(value) == end)
        return;
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(k->context);
    LLVMPositionBuilderBeforeInstrAndDbgRecords(builder, LLVMGetFirstInstruction(end));
    LLVMValueRef phi = LLVMBuildPhi(builder, LLVMTypeOf(value), "");
    LLVMInstructionSetDebugLoc(phi, NULL);
    for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(end)); use;
         use = LLVMGetNextUse(use)) {
        LLVMBasicBlockRef from = LLVMGetInstructionParent(LLVMGetUser(use));
        LLVMAddIncoming(phi, &value, &from, 1);
    }
    LLVMSetOperand(last, 0, phi);
    LLVMDisposeBuilder(builder);
}

/* The ways into an end that come from the twin bring the twin's values. */
static void complete_end(const struct rh_twin *t, LLVMBasicBlockRef end)
{
    for (LLVMValueRef phi = LLVMGetFirstInstruction(end); LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi))
        connect_phi(t, phi, phi);
}

/* Lets a copied instruction use the copies of what its original uses. */
static void connect(const struct making *k, LLVMValueRef inst, LLVMValueRef copy)
{
    if (LLVMIsAPHINode(inst)) {
        connect_phi(k->twin, inst, copy);
        return;
    }
    int count = LLVMGetNumOperands(copy);
    for (int i = 0; i < count; i++) {
        LLVMValueRef mapped = get_copy(k->twin, LLVMGetOperand(copy, (unsigned)i));
        if (mapped)
            LLVMSetOperand(copy, (unsigned)i, mapped);
    }
    /* What is said of a loop, by a node that stands for the loop itself, must not be said of two.
     */
    if (LLVMIsATerminatorInst(copy))
        LLVMSetMetadata(copy, LLVMGetMDKindIDInContext(k->context, "llvm.loop", 9), NULL);
}

static void copy_blocks(struct making *k)
{
    rh_vec_each (LLVMBasicBlockRef, end, &k->ends)
        return_phi(k, *end);
    rh_vec_each (struct rh_twin_block, it, &k->twin->blocks)
        fill_block(k, it);
    rh_vec_each (LLVMBasicBlockRef, end, &k->ends)
        complete_end(k->twin, *end);
    rh_vec_each (struct rh_twin_block, block, &k->twin->blocks) {
        for (LLVMValueRef it = LLVMGetFirstInstruction(block->plain); it;
             it = LLVMGetNextInstruction(it)) {
            LLVMValueRef copy = get_copy(k->twin, it);
            if (copy)
                connect(k, it, copy);
        }
    }
}

/* --- gates --- */

/* Tells code generation that the twin is the rare case. */
static void set_weights(LLVMContextRef context, LLVMValueRef gate)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
    LLVMMetadataRef parts[] = {
        LLVMMDStringInContext2(context, "branch_weights", 14),
        LLVMValueAsMetadata(LLVMConstInt(i32, 1 << 20, false)),
        LLVMValueAsMetadata(LLVMConstInt(i32, 1, false)),
    };
    LLVMMetadataRef node = LLVMMDNodeInContext2(context, parts, sizeof parts / sizeof *parts);
    LLVMSetMetadata(gate, LLVMGetMDKindIDInContext(context, "prof", 4),
                    LLVMMetadataAsValue(context, node));
}

/* Replaces the branch at the end of `from` by the choice between its target and `to`. */
static void build_gate(struct making *k, LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(from);
    LLVMBasicBlockRef plain = LLVMGetSuccessor(branch, 0);
    LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(branch);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(k->context), NULL, 0, false);
    LLVMInstructionEraseFromParent(branch);
    LLVMPositionBuilderAtEnd(k->builder, from);
    LLVMValueRef gate =
        LLVMBuildCallBr(k->builder, type, rh_llvm_asm(type, k->text, k->constraints), plain, &to, 1,
                        NULL, 0, NULL, 0, "");
    LLVMInstructionSetDebugLoc(gate, loc);
    set_weights(k->context, gate);
}

/* `prefix` holds the phis of the gated block, whose copy begins with theirs. */
static void build_inner_gate(struct making *k, LLVMBasicBlockRef prefix, LLVMBasicBlockRef into)
{
    LLVMBasicBlockRef edge = LLVMAppendBasicBlockInContext(k->context, k->twin->function, "");
    LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(LLVMGetBasicBlockTerminator(prefix));
    build_gate(k, prefix, edge);
    LLVMPositionBuilderAtEnd(k->builder, edge);
    LLVMInstructionSetDebugLoc(LLVMBuildBr(k->builder, into), loc);
    for (LLVMValueRef phi = LLVMGetFirstInstruction(prefix); phi && LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi))
        LLVMAddIncoming(get_copy(k->twin, phi), &phi, &edge, 1);
    rh_vec_push(&k->twin->gates, (struct rh_twin_gate){.edge = edge, .into = into});
}

/* Parts the stack memory of fixed size from the rest of the entry: both bodies share it. */
static enum rh_status split_entry(struct making *k, const struct rh_function *fn, void **entry)
{
    return rh_rewrite_split_before(k->twin->module, gate_place(fn->blocks[0]), entry);
}

static enum rh_status build_gates(struct making *k, LLVMBasicBlockRef entry,
                                  struct rh_block *const *gates, uint32_t count)
{
    enum rh_status status = RH_OK;
    for (uint32_t g = 0; g < count && status == RH_OK; g++) {
        struct rh_value *place = gate_place(gates[g]);
        LLVMBasicBlockRef into = block_copy(k->twin, LLVMGetInstructionParent(place->handle));
        void *prefix;
        if (is_entry(gates[g])) {
            build_gate(k, entry, into);
        } else if (can_gate(gates[g])) {
            status = rh_rewrite_split_before(k->twin->module, place, &prefix);
            if (status == RH_OK)
                build_inner_gate(k, prefix, into);
        }
    }
    return status;
}

static void release(struct rh_twin *t)
{
    rh_vec_free(&t->blocks);
    rh_vec_free(&t->gates);
    rh_map_release(&t->copies);
    free(t);
}

enum rh_status rh_rewrite_twin_begin(struct rh_module *m, struct rh_function *fn,
                                     struct rh_block *const *gates, uint32_t count,
                                     const char *text, const char *constraints,
                                     struct rh_twin **out)
{
    struct rh_twin *t = rh_calloc(1, sizeof *t);
    struct making k = {.twin = t, .context = m->context, .text = text, .constraints = constraints};
    void *entry;
    t->module = m;
    t->function = fn->handle;
    enum rh_status status = check_function(t->function);
    if (status == RH_OK)
        status = split_entry(&k, fn, &entry);
    if (status == RH_OK) {
        struct rh_debug_vars debug_vars;
        rh_debug_vars_begin(&debug_vars, m->llvm);
        k.builder = LLVMCreateBuilderInContext(m->context);
        make_blocks(&k, gates, count);
        copy_blocks(&k);
        rh_debug_vars_end(&debug_vars);
        status = build_gates(&k, entry, gates, count);
        LLVMDisposeBuilder(k.builder);
    }
    rh_vec_free(&k.ends);
    if (status != RH_OK) {
        release(t);
        t = NULL;
    }
    *out = t;
    return status;
}

void *rh_twin_of(const struct rh_twin *twin, const struct rh_value *value)
{
    return get_copy(twin, value->handle);
}

void *rh_twin_of_block(const struct rh_twin *twin, const struct rh_block *block)
{
    return block_copy(twin, block->handle);
}

void *rh_twin_entry(const struct rh_twin *twin)
{
    return LLVMGetBasicBlockTerminator(LLVMGetFirstBasicBlock(twin->function));
}

/* --- the end --- */

/* Where a debug value is said: the values of the twin, and a block of it. */
struct said_at {
    const struct rh_twin_values *values;
    LLVMBasicBlockRef block;
};

static LLVMValueRef said_value(void *arg, LLVMValueRef value)
{
    const struct said_at *at = arg;
    return rh_twin_value_in(at->values, at->block, value);
}

/* By now the originals may have moved to other blocks, so they are found through the copies. */
static void copy_debug_vars(const struct rh_twin *t, const struct rh_twin_values *values)
{
    struct rh_debug_vars debug_vars;
    rh_debug_vars_begin(&debug_vars, t->module->llvm);
    uint64_t original;
    for (size_t at = 0; rh_map_next(&t->copies, &at, &original, NULL);) {
        LLVMValueRef inst = LLVMIsAInstruction((LLVMValueRef)(uintptr_t)original);
        if (!inst || LLVMIsAPHINode(inst))
            continue;
        LLVMValueRef copy = get_copy(t, inst);
        struct said_at here = {.values = values, .block = LLVMGetInstructionParent(copy)};
        rh_debug_vars_copy(&debug_vars, inst, copy, said_value, &here);
    }
    rh_debug_vars_end(&debug_vars);
}

void rh_rewrite_twin_finish(struct rh_twin *twin)
{
    struct rh_twin_values values = {.twin = twin};
    rh_twin_join(twin, &values);
    copy_debug_vars(twin, &values);
    rh_twin_values_release(&values);
    release(twin);
}
