/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inserting assembly, splitting blocks and adding data; twins are made in twin.c, and
 * codegen.c writes the result.
 */
#include "ir/rewrite/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "base/mem.h"
#include "base/vec.h"
#include "ir/module.h"
#include "ir/rewrite/debug_vars.h"
#include "ir/rewrite/llvm_kit.h"

/* What must stand first in its block, or right behind what does. */
static bool opens_block(LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMPHI:
    case LLVMLandingPad:
    case LLVMCleanupPad:
    case LLVMCatchPad:
    case LLVMCatchSwitch:
        return true;
    default:
        return false;
    }
}

/* Whether nothing may stand between this instruction and the call before it: a tail call that the
 * program relies on must be followed by its return. */
static bool belongs_to_tail_call(LLVMValueRef inst)
{
    if (!LLVMIsAReturnInst(inst) && !LLVMIsABitCastInst(inst))
        return false;
    LLVMValueRef before = LLVMGetPreviousInstruction(inst);
    if (before && LLVMIsABitCastInst(before))
        before = LLVMGetPreviousInstruction(before);
    return before && LLVMIsACallInst(before) &&
           LLVMGetTailCallKind(before) == LLVMTailCallKindMustTail;
}

static enum rh_status check_place_before(LLVMValueRef inst)
{
    if (opens_block(inst))
        return rh_fail(RH_ERR_UNSUPPORTED, "nothing can stand before a phi or a landing pad");
    if (belongs_to_tail_call(inst))
        return rh_fail(RH_ERR_UNSUPPORTED, "nothing can stand between a tail call and its return");
    return RH_OK;
}

static LLVMTypeRef asm_type(LLVMContextRef context, const LLVMValueRef *args, uint32_t count)
{
    RH_VEC(LLVMTypeRef) types = RH_VEC_INIT;
    for (uint32_t i = 0; i < count; i++)
        rh_vec_push(&types, LLVMTypeOf(args[i]));
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), types.data, count, false);
    rh_vec_free(&types);
    return type;
}

static unsigned attribute_kind(const char *name)
{
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

/* Memory operands are pointers whose pointee LLVM wants to know; we touch no more than a byte. */
static void mark_operands(LLVMContextRef context, LLVMValueRef call,
                          const struct rh_asm_operand *operands, uint32_t count)
{
    rh_llvm_mark_nounwind(context, call);
    for (uint32_t i = 0; i < count; i++) {
        if (!operands[i].is_memory)
            continue;
        LLVMAttributeRef byte = LLVMCreateTypeAttribute(context, attribute_kind("elementtype"),
                                                        LLVMInt8TypeInContext(context));
        LLVMAddCallSiteAttribute(call, i + 1, byte);
    }
}

static bool has_pointers(LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        type = LLVMGetElementType(type);
    return LLVMGetTypeKind(type) == LLVMPointerTypeKind;
}

static LLVMValueRef build_word(LLVMContextRef context, LLVMBuilderRef builder,
                               const struct rh_asm_operand *operand, LLVMValueRef value)
{
    LLVMTypeRef word = LLVMInt64TypeInContext(context), type = LLVMTypeOf(value);
    bool is_integer = LLVMGetTypeKind(type) == LLVMIntegerTypeKind;
    if (is_integer && LLVMGetIntTypeWidth(type) < LLVMGetIntTypeWidth(word))
        value = LLVMBuildZExt(builder, value, word, "");
    else if (!has_pointers(type))
        value = LLVMBuildBitCast(
            builder, value, operand->lanes > 1 ? LLVMVectorType(word, operand->lanes) : word, "");
    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind)
        value =
            LLVMBuildExtractElement(builder, value, LLVMConstInt(word, operand->lane, false), "");
    if (operand->times && LLVMTypeOf(operand->times) == LLVMTypeOf(value))
        value = LLVMBuildMul(builder, value, operand->times, "");
    return value;
}

enum rh_status rh_rewrite_insert_asm(struct rh_module *m, void *handle, bool after,
                                     const char *text, const char *constraints,
                                     const struct rh_asm_operand *operands, uint32_t count)
{
    LLVMValueRef inst = handle;
    LLVMValueRef place = inst;
    if (after) {
        if (LLVMIsATerminatorInst(inst) || LLVMIsAPHINode(inst))
            return rh_fail(RH_ERR_UNSUPPORTED, "nothing can stand behind a terminator or a phi");
        place = LLVMGetNextInstruction(inst);
    }
    enum rh_status status = check_place_before(place);
    if (status != RH_OK)
        return status;

    RH_VEC(LLVMValueRef) args = RH_VEC_INIT;
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    /* What debug information says at an instruction holds from before its key on; what it says
     * behind the instruction must wait for the assembly. */
    if (after)
        LLVMPositionBuilderBeforeInstrAndDbgRecords(builder, place);
    else
        LLVMPositionBuilderBefore(builder, place);
    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef value = operands[i].handle ? operands[i].handle : operands[i].value->handle;
        rh_vec_push(&args, operands[i].is_word
                               ? build_word(m->context, builder, &operands[i], value)
                               : value);
    }
    LLVMTypeRef type = asm_type(m->context, args.data, count);
    LLVMValueRef call =
        LLVMBuildCall2(builder, type, rh_llvm_asm(type, text, constraints), args.data, count, "");
    LLVMInstructionSetDebugLoc(call, LLVMInstructionGetDebugLoc(inst));
    mark_operands(m->context, call, operands, count);
    rh_llvm_mark_inserted(m->context, call);
    LLVMDisposeBuilder(builder);
    rh_vec_free(&args);
    return RH_OK;
}

void *rh_rewrite_operand(void *handle, uint32_t i)
{
    return LLVMGetOperand(handle, i);
}

void rh_rewrite_rename(struct rh_module *m, const struct rh_function *fn, const char *name)
{
    (void)m;
    LLVMSetValueName2(fn->value->handle, name, strlen(name));
}

/* Stack memory of fixed size counts as such only in the entry block. */
static bool is_fixed_alloca(LLVMValueRef inst)
{
    return LLVMIsAAllocaInst(inst) && LLVMIsAConstantInt(LLVMGetOperand(inst, 0));
}

static void move_prefix(struct rh_debug_vars *dv, LLVMBasicBlockRef from, LLVMValueRef until,
                        LLVMBuilderRef to)
{
    LLVMValueRef next;
    for (LLVMValueRef it = LLVMGetFirstInstruction(from); it != until; it = next) {
        next = LLVMGetNextInstruction(it);
        rh_debug_vars_move(dv, to, it);
    }
}

static void move_allocas(struct rh_debug_vars *dv, LLVMValueRef first, LLVMBuilderRef to)
{
    LLVMValueRef next;
    for (LLVMValueRef it = first; it; it = next) {
        next = LLVMGetNextInstruction(it);
        if (is_fixed_alloca(it))
            rh_debug_vars_move(dv, to, it);
    }
}

/* Lets everything that leads to the old block lead to the new one. The terminator is away
 * meanwhile, because LLVM would change the phis of its successors too. */
static void redirect(LLVMBasicBlockRef old, LLVMBasicBlockRef new, LLVMBuilderRef builder)
{
    LLVMValueRef last = LLVMGetBasicBlockTerminator(old);
    char *name = rh_strdup(LLVMGetValueName(last));
    LLVMInstructionRemoveFromParent(last);
    LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(old), LLVMBasicBlockAsValue(new));
    LLVMPositionBuilderAtEnd(builder, old);
    LLVMInsertIntoBuilderWithName(builder, last, name);
    free(name);
}

enum rh_status rh_rewrite_split_before(struct rh_module *m, struct rh_value *inst, void **prefix)
{
    LLVMValueRef first = inst->handle;
    enum rh_status status = check_place_before(first);
    if (status != RH_OK)
        return status;

    LLVMBasicBlockRef old = LLVMGetInstructionParent(first);
    bool is_entry = old == LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(old));
    LLVMBasicBlockRef new = LLVMInsertBasicBlockInContext(m->context, old, "");
    struct rh_debug_vars dv;
    rh_debug_vars_begin(&dv, m->llvm);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    LLVMPositionBuilderAtEnd(builder, new);
    move_prefix(&dv, old, first, builder);
    if (is_entry)
        move_allocas(&dv, first, builder);
    rh_debug_vars_end(&dv);

    redirect(old, new, builder);
    LLVMPositionBuilderAtEnd(builder, new);
    LLVMValueRef branch = LLVMBuildBr(builder, old);
    LLVMInstructionSetDebugLoc(branch, LLVMInstructionGetDebugLoc(first));
    LLVMDisposeBuilder(builder);
    *prefix = new;
    return RH_OK;
}

static bool is_taken(LLVMModuleRef module, const char *name)
{
    size_t len = strlen(name);
    return LLVMGetNamedGlobal(module, name) || LLVMGetNamedFunction(module, name) ||
           LLVMGetNamedGlobalAlias(module, name, len) || LLVMGetNamedGlobalIFunc(module, name, len);
}

enum rh_status rh_rewrite_add_data(struct rh_module *m, const char *name, const char *section,
                                   const void *bytes, size_t size, uint32_t align, bool exported)
{
    if (exported && is_taken(m->llvm, name))
        return rh_fail(RH_ERR_INPUT, "the program has a symbol named %s already", name);
    LLVMValueRef init = LLVMConstStringInContext2(m->context, bytes, size, true);
    LLVMValueRef data = LLVMAddGlobal(m->llvm, LLVMTypeOf(init), name);
    LLVMSetInitializer(data, init);
    LLVMSetGlobalConstant(data, true);
    LLVMSetAlignment(data, align);
    if (section)
        LLVMSetSection(data, section);
    if (exported) {
        LLVMSetVisibility(data, LLVMHiddenVisibility);
    } else {
        LLVMSetLinkage(data, LLVMInternalLinkage);
        rh_llvm_keep(m->llvm, &data, 1);
    }
    return RH_OK;
}
