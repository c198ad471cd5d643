/*
 * Copying an innermost loop, with assembly before the loop that chooses which of the two runs.
 *
 * How it works: before
 *
 *     preheader -> header ... -> exits
 *
 * and after
 *
 *     preheader --falls through--> way_in -> header ... -------> exits
 *               --jumps----------> copy_in -> copy of header ... --> the same exits
 *
 * The two blocks in between are there because the assembly's edges must not be critical, and they
 * leave each loop with a preheader of its own. Everything is checked before anything is changed.
 */
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "base/vec.h"
#include "ir/cfg.h"
#include "ir/debug_vars.h"
#include "ir/llvm_kit.h"
#include "ir/module.h"
#include "ir/rewrite.h"

struct block_vec RH_VEC_BODY(LLVMBasicBlockRef);

/* The loop as it is in LLVM now, which may have more blocks than the snapshot knows. */
struct copying {
    LLVMContextRef context;
    LLVMValueRef function;
    LLVMBasicBlockRef preheader, header;
    LLVMBasicBlockRef way_in, copy_in;
    struct block_vec blocks; /* header first */
    struct block_vec exits;  /* without duplicates */
    struct rh_map known;     /* blocks of the two vectors -> whether inside */
    struct rh_map values;    /* instructions and blocks -> their copies */
    struct rh_debug_vars debug_vars;
    LLVMBuilderRef builder; /* stands only ever at the end of a block */
};

static enum rh_status refuse(const char *why)
{
    return rh_fail(RH_ERR_UNSUPPORTED, "loop cannot be copied: %s", why);
}

static bool is_inside(const struct copying *c, LLVMBasicBlockRef block)
{
    uint64_t inside = false;
    return rh_map_get(&c->known, rh_map_key(block), &inside) && inside;
}

static enum rh_status find_header(struct copying *c, const struct rh_loop *loop)
{
    if (!loop->innermost)
        return refuse("it holds another loop");
    if (!loop->preheader)
        return refuse("it has no preheader");
    c->preheader = loop->preheader->handle;
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(c->preheader);
    if (!LLVMIsABranchInst(branch) || LLVMIsConditional(branch))
        return refuse("its preheader does not simply branch to it");
    c->header = LLVMGetSuccessor(branch, 0);
    c->function = LLVMGetBasicBlockParent(c->header);
    return RH_OK;
}

/* Adds the predecessors of a block; false if one of them shows that the loop has a second way in.
 */
static bool add_predecessors(struct copying *c, LLVMBasicBlockRef block)
{
    LLVMValueRef as_value = LLVMBasicBlockAsValue(block);
    for (LLVMUseRef use = LLVMGetFirstUse(as_value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsAInstruction(user))
            continue; /* the address of the block */
        LLVMBasicBlockRef from = LLVMGetInstructionParent(user);
        if (from == c->preheader) {
            if (block != c->header)
                return false;
        } else if (rh_map_put(&c->known, rh_map_key(from), true)) {
            rh_vec_push(&c->blocks, from);
        }
    }
    return true;
}

/* The blocks from which the header is reached again without passing it. */
static enum rh_status find_blocks(struct copying *c)
{
    rh_map_put(&c->known, rh_map_key(c->header), true);
    rh_vec_push(&c->blocks, c->header);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(c->function);
    for (size_t i = 0; i < c->blocks.len; i++) {
        LLVMBasicBlockRef block = c->blocks.data[i];
        if (block == entry || !add_predecessors(c, block))
            return refuse("it has a second way in");
    }
    return RH_OK;
}

static void find_exits(struct copying *c)
{
    rh_vec_each (LLVMBasicBlockRef, it, &c->blocks) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(*it);
        unsigned count = LLVMGetNumSuccessors(last);
        for (unsigned i = 0; i < count; i++) {
            LLVMBasicBlockRef to = LLVMGetSuccessor(last, i);
            if (is_inside(c, to) || rh_map_has(&c->known, rh_map_key(to)))
                continue;
            rh_map_put(&c->known, rh_map_key(to), false);
            rh_vec_push(&c->exits, to);
        }
    }
}

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

static const char *why_call_is_unfit(LLVMValueRef call)
{
    if (call_has(call, "noduplicate"))
        return "it holds a call that must not be duplicated";
    if (call_has(call, "convergent"))
        return "it holds a convergent call";
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMIsAInlineAsm(callee) && defines_label(callee))
        return "it holds assembly that defines a symbol";
    return NULL;
}

static const char *why_unfit(LLVMValueRef inst)
{
    if (LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMTokenTypeKind)
        return "it holds a token";
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMInvoke:
    case LLVMLandingPad:
    case LLVMResume:
    case LLVMCleanupPad:
    case LLVMCatchPad:
    case LLVMCatchSwitch:
    case LLVMCleanupRet:
    case LLVMCatchRet:
        return "it handles exceptions";
    case LLVMIndirectBr:
    case LLVMCallBr:
        return "it holds an indirect jump";
    case LLVMCall:
        return why_call_is_unfit(inst);
    default:
        return NULL;
    }
}

/* Whether each use outside the loop is a phi of an exit, which can take the copy's value as well.
 */
static bool leaves_through_phis(const struct copying *c, LLVMValueRef inst)
{
    for (LLVMUseRef use = LLVMGetFirstUse(inst); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        LLVMBasicBlockRef at = LLVMGetInstructionParent(user);
        if (is_inside(c, at))
            continue;
        if (!LLVMIsAPHINode(user) || !rh_map_has(&c->known, rh_map_key(at)))
            return false;
        unsigned count = LLVMCountIncoming(user);
        for (unsigned i = 0; i < count; i++) {
            if (LLVMGetIncomingValue(user, i) == inst &&
                !is_inside(c, LLVMGetIncomingBlock(user, i)))
                return false;
        }
    }
    return true;
}

static enum rh_status check_blocks(const struct copying *c)
{
    rh_vec_each (LLVMBasicBlockRef, block, &c->blocks) {
        for (LLVMValueRef it = LLVMGetFirstInstruction(*block); it;
             it = LLVMGetNextInstruction(it)) {
            const char *why = why_unfit(it);
            if (why)
                return refuse(why);
            if (!leaves_through_phis(c, it))
                return refuse("a value is used behind it other than through a phi");
        }
    }
    return RH_OK;
}

/* Moves an unnamed instruction to the end of a block. */
static void move_branch(struct copying *c, LLVMValueRef branch, LLVMBasicBlockRef to)
{
    LLVMInstructionRemoveFromParent(branch);
    LLVMPositionBuilderAtEnd(c->builder, to);
    LLVMInsertIntoBuilder(c->builder, branch);
}

/*
 * Moves the preheader's branch to a block behind it. The header's phis must then name that block,
 * which the C interface has no call for; but replacing a block that ends in a branch also replaces
 * it in the phis the branch leads to. So those who lead to the preheader are parked elsewhere for
 * the moment of the replacement.
 */
static void make_way_in(struct copying *c)
{
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(c->preheader);
    LLVMValueRef preheader = LLVMBasicBlockAsValue(c->preheader);
    LLVMBasicBlockRef parking = LLVMAppendBasicBlockInContext(c->context, c->function, "");
    c->way_in = LLVMAppendBasicBlockInContext(c->context, c->function, "");
    LLVMMoveBasicBlockAfter(c->way_in, c->preheader);

    LLVMInstructionRemoveFromParent(branch);
    LLVMReplaceAllUsesWith(preheader, LLVMBasicBlockAsValue(parking));
    LLVMPositionBuilderAtEnd(c->builder, c->preheader);
    LLVMInsertIntoBuilder(c->builder, branch);
    LLVMReplaceAllUsesWith(preheader, LLVMBasicBlockAsValue(c->way_in));
    move_branch(c, branch, c->way_in);
    LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(parking), preheader);
    LLVMDeleteBasicBlock(parking);
}

static void put_copy(struct copying *c, LLVMValueRef original, LLVMValueRef copy)
{
    rh_map_put_ptr(&c->values, rh_map_key(original), copy);
}

static LLVMValueRef get_copy(const struct copying *c, LLVMValueRef original)
{
    return rh_map_get_ptr(&c->values, rh_map_key(original));
}

/* A phi is built anew, because the blocks of a clone could not be changed. */
static LLVMValueRef copy_phi(struct copying *c, LLVMValueRef phi)
{
    LLVMValueRef copy = LLVMBuildPhi(c->builder, LLVMTypeOf(phi), "");
    LLVMInstructionSetDebugLoc(copy, LLVMInstructionGetDebugLoc(phi));
    if (LLVMCanValueUseFastMathFlags(phi))
        LLVMSetFastMathFlags(copy, LLVMGetFastMathFlags(phi));
    return copy;
}

static void copy_block(struct copying *c, LLVMBasicBlockRef block, LLVMBasicBlockRef copy)
{
    LLVMPositionBuilderAtEnd(c->builder, copy);
    for (LLVMValueRef it = LLVMGetFirstInstruction(block); it; it = LLVMGetNextInstruction(it)) {
        if (rh_debug_vars_said_once(it))
            continue;
        LLVMValueRef inst;
        if (LLVMIsAPHINode(it)) {
            inst = copy_phi(c, it);
        } else {
            inst = LLVMInstructionClone(it);
            LLVMInsertIntoBuilder(c->builder, inst);
        }
        put_copy(c, it, inst);
    }
}

static void add_incoming(const struct copying *c, LLVMValueRef from, unsigned i, LLVMValueRef to)
{
    LLVMValueRef value = LLVMGetIncomingValue(from, i);
    LLVMValueRef mapped = get_copy(c, value);
    LLVMValueRef block = get_copy(c, LLVMBasicBlockAsValue(LLVMGetIncomingBlock(from, i)));
    LLVMBasicBlockRef at = LLVMValueAsBasicBlock(block);
    LLVMAddIncoming(to, mapped ? &mapped : &value, &at, 1);
}

/* Lets a copied instruction use the copies of what its original uses. */
static void connect(struct copying *c, LLVMValueRef inst, LLVMValueRef copy)
{
    if (LLVMIsAPHINode(inst)) {
        unsigned count = LLVMCountIncoming(inst);
        for (unsigned i = 0; i < count; i++)
            add_incoming(c, inst, i, copy);
        return;
    }
    int count = LLVMGetNumOperands(copy);
    for (int i = 0; i < count; i++) {
        LLVMValueRef mapped = get_copy(c, LLVMGetOperand(copy, (unsigned)i));
        if (mapped)
            LLVMSetOperand(copy, (unsigned)i, mapped);
    }
    /* What is said of a loop, by a node that stands for the loop itself, must not be said of two.
     */
    if (LLVMIsATerminatorInst(copy))
        LLVMSetMetadata(copy, LLVMGetMDKindIDInContext(c->context, "llvm.loop", 9), NULL);
    rh_debug_vars_copy(&c->debug_vars, inst, copy, &c->values);
}

static void copy_blocks(struct copying *c)
{
    rh_vec_each (LLVMBasicBlockRef, it, &c->blocks)
        put_copy(c, LLVMBasicBlockAsValue(*it),
                 LLVMBasicBlockAsValue(LLVMAppendBasicBlockInContext(c->context, c->function, "")));
    rh_vec_each (LLVMBasicBlockRef, it, &c->blocks)
        copy_block(c, *it, LLVMValueAsBasicBlock(get_copy(c, LLVMBasicBlockAsValue(*it))));
    rh_vec_each (LLVMBasicBlockRef, block, &c->blocks) {
        for (LLVMValueRef it = LLVMGetFirstInstruction(*block); it;
             it = LLVMGetNextInstruction(it)) {
            LLVMValueRef copy = get_copy(c, it);
            if (copy)
                connect(c, it, copy);
        }
    }
}

static void complete_exits(const struct copying *c)
{
    rh_vec_each (LLVMBasicBlockRef, exit, &c->exits) {
        for (LLVMValueRef phi = LLVMGetFirstInstruction(*exit); phi && LLVMIsAPHINode(phi);
             phi = LLVMGetNextInstruction(phi)) {
            unsigned count = LLVMCountIncoming(phi);
            for (unsigned i = 0; i < count; i++) {
                if (is_inside(c, LLVMGetIncomingBlock(phi, i)))
                    add_incoming(c, phi, i, phi);
            }
        }
    }
}

/* Tells code generation that the copy is the rare case. */
static void set_weights(LLVMContextRef context, LLVMValueRef choice)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
    LLVMMetadataRef parts[] = {
        LLVMMDStringInContext2(context, "branch_weights", 14),
        LLVMValueAsMetadata(LLVMConstInt(i32, 1 << 20, false)),
        LLVMValueAsMetadata(LLVMConstInt(i32, 1, false)),
    };
    LLVMMetadataRef node = LLVMMDNodeInContext2(context, parts, sizeof parts / sizeof *parts);
    LLVMSetMetadata(choice, LLVMGetMDKindIDInContext(context, "prof", 4),
                    LLVMMetadataAsValue(context, node));
}

static void build_choice(struct copying *c, const char *text, const char *constraints)
{
    LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(LLVMGetBasicBlockTerminator(c->way_in));
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(c->context), NULL, 0, false);
    LLVMPositionBuilderAtEnd(c->builder, c->preheader);
    LLVMValueRef choice = LLVMBuildCallBr(c->builder, type, rh_llvm_asm(type, text, constraints),
                                          c->way_in, &c->copy_in, 1, NULL, 0, NULL, 0, "");
    LLVMInstructionSetDebugLoc(choice, loc);
    set_weights(c->context, choice);

    LLVMPositionBuilderAtEnd(c->builder, c->copy_in);
    LLVMValueRef header = get_copy(c, LLVMBasicBlockAsValue(c->header));
    LLVMInstructionSetDebugLoc(LLVMBuildBr(c->builder, LLVMValueAsBasicBlock(header)), loc);
}

static void release(struct copying *c)
{
    rh_vec_free(&c->blocks);
    rh_vec_free(&c->exits);
    rh_map_release(&c->known);
    rh_map_release(&c->values);
}

enum rh_status rh_rewrite_copy_loop(struct rh_module *m, const struct rh_loop *loop,
                                    const char *text, const char *constraints,
                                    struct rh_loop_copy *out)
{
    struct copying c = {.context = m->context};
    enum rh_status status = find_header(&c, loop);
    if (status == RH_OK)
        status = find_blocks(&c);
    if (status == RH_OK) {
        find_exits(&c);
        status = check_blocks(&c);
    }
    if (status == RH_OK) {
        rh_debug_vars_begin(&c.debug_vars, m->llvm);
        c.builder = LLVMCreateBuilderInContext(m->context);
        make_way_in(&c);
        c.copy_in = LLVMAppendBasicBlockInContext(m->context, c.function, "");
        put_copy(&c, LLVMBasicBlockAsValue(c.way_in), LLVMBasicBlockAsValue(c.copy_in));
        copy_blocks(&c);
        complete_exits(&c);
        build_choice(&c, text, constraints);
        out->copies = c.values;
        c.values = (struct rh_map)RH_MAP_INIT;
        LLVMDisposeBuilder(c.builder);
        rh_debug_vars_end(&c.debug_vars);
    }
    release(&c);
    return status;
}

void *rh_loop_copy_of(const struct rh_loop_copy *copy, const struct rh_value *value)
{
    return rh_map_get_ptr(&copy->copies, rh_map_key(value->handle));
}

void rh_loop_copy_release(struct rh_loop_copy *copy)
{
    rh_map_release(&copy->copies);
}
