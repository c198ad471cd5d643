/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps what debug information says about variables right while instructions move to other blocks
 * and are copied.
 */
#include "ir/rewrite/debug_vars.h"

#include <stdlib.h>
#include <string.h>

#include <llvm/Config/llvm-config.h>

#include "base/mem.h"

#define HAS_READABLE_RECORDS (LLVM_VERSION_MAJOR >= 22)

static void move_to_end(LLVMBuilderRef to, LLVMValueRef inst)
{
    size_t len;
    char *name = rh_strdup(LLVMGetValueName2(inst, &len));
    LLVMInstructionRemoveFromParent(inst);
    LLVMInsertIntoBuilder(to, inst);
    LLVMSetValueName2(inst, name, len); /* inserting dropped it */
    free(name);
}

void rh_debug_vars_end(struct rh_debug_vars *dv)
{
    LLVMDisposeDIBuilder(dv->builder);
    rh_map_release(&dv->variadics);
}

static void prepare(struct rh_debug_vars *dv, LLVMModuleRef module)
{
    dv->context = LLVMGetModuleContext(module);
    dv->builder = LLVMCreateDIBuilderDisallowUnresolved(module);
    dv->plain = LLVMDIBuilderCreateExpression(dv->builder, NULL, 0);
    dv->lost = LLVMGetPoison(LLVMInt1TypeInContext(dv->context));
    rh_map_init(&dv->variadics);
    dv->fallen_first = dv->fallen_last = NULL;
}

#if HAS_READABLE_RECORDS

void rh_debug_vars_begin(struct rh_debug_vars *dv, LLVMModuleRef module)
{
    prepare(dv, module);
}

void rh_debug_vars_pack(LLVMModuleRef module)
{
    (void)module;
}

bool rh_debug_vars_said_once(LLVMValueRef inst)
{
    (void)inst;
    return false;
}

/* Only the printed form of an expression tells whether it takes a list of values. */
static bool is_variadic(struct rh_debug_vars *dv, LLVMMetadataRef expression)
{
    uint64_t known;
    if (rh_map_get(&dv->variadics, rh_map_key(expression), &known))
        return known;
    char *text = LLVMPrintValueToString(LLVMMetadataAsValue(dv->context, expression));
    bool variadic = strstr(text, "DW_OP_LLVM_arg");
    LLVMDisposeMessage(text);
    rh_map_put(&dv->variadics, rh_map_key(expression), variadic);
    return variadic;
}

/* Says at `inst` what `record` says elsewhere. */
static void repeat(struct rh_debug_vars *dv, LLVMDbgRecordRef record, LLVMValueRef inst,
                   rh_debug_vars_value *value_of, void *arg)
{
    LLVMDbgRecordKind kind = LLVMDbgRecordGetKind(record);
    if (kind != LLVMDbgRecordValue && kind != LLVMDbgRecordAssign)
        return;
    LLVMMetadataRef expression = LLVMDbgVariableRecordGetExpression(record);
    LLVMValueRef value = dv->lost;
    if (is_variadic(dv, expression)) {
        expression = dv->plain;
    } else {
        LLVMValueRef named = LLVMDbgVariableRecordGetValue(record, 0);
        if (named)
            value = value_of ? value_of(arg, named) : named;
    }
    LLVMDIBuilderInsertDbgValueRecordBefore(dv->builder, value,
                                            LLVMDbgVariableRecordGetVariable(record), expression,
                                            LLVMDbgRecordGetDebugLoc(record), inst);
}

/*
 * The records of `inst` fall to the instruction behind it when it leaves; they cannot be taken
 * along, so they are said again where it goes. What fell says the same once more, in the same
 * order, which is true there too; it stands before the next instruction's own, and is not said
 * again for that one.
 */
void rh_debug_vars_move(struct rh_debug_vars *dv, LLVMBuilderRef to, LLVMValueRef inst)
{
    LLVMDbgRecordRef first = LLVMGetFirstDbgRecord(inst);
    LLVMDbgRecordRef last = LLVMGetLastDbgRecord(inst);
    if (first && first == dv->fallen_first)
        first = dv->fallen_last == last ? NULL : LLVMGetNextDbgRecord(dv->fallen_last);
    else
        dv->fallen_first = first;
    dv->fallen_last = last;
    move_to_end(to, inst);
    for (LLVMDbgRecordRef r = first; r; r = r == last ? NULL : LLVMGetNextDbgRecord(r))
        repeat(dv, r, inst, NULL, NULL);
}

void rh_debug_vars_copy(struct rh_debug_vars *dv, LLVMValueRef inst, LLVMValueRef copy,
                        rh_debug_vars_value *value_of, void *arg)
{
    for (LLVMDbgRecordRef r = LLVMGetFirstDbgRecord(inst); r; r = LLVMGetNextDbgRecord(r))
        repeat(dv, r, copy, value_of, arg);
}

#else

void rh_debug_vars_begin(struct rh_debug_vars *dv, LLVMModuleRef module)
{
    prepare(dv, module);
    if (LLVMIsNewDbgInfoFormat(module))
        LLVMSetIsNewDbgInfoFormat(module, false);
}

void rh_debug_vars_pack(LLVMModuleRef module)
{
    if (!LLVMIsNewDbgInfoFormat(module))
        LLVMSetIsNewDbgInfoFormat(module, true);
}

void rh_debug_vars_move(struct rh_debug_vars *dv, LLVMBuilderRef to, LLVMValueRef inst)
{
    (void)dv;
    move_to_end(to, inst);
}

static bool calls_intrinsic(LLVMValueRef inst, const char *name)
{
    if (!LLVMIsACallInst(inst))
        return false;
    LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(inst));
    return callee && LLVMGetIntrinsicID(callee) == LLVMLookupIntrinsicID(name, strlen(name));
}

bool rh_debug_vars_said_once(LLVMValueRef inst)
{
    return calls_intrinsic(inst, "llvm.dbg.declare") || calls_intrinsic(inst, "llvm.dbg.label");
}

/* Lets an operand that wraps a value in metadata wrap the copy's value instead; false if it wraps a
 * list of values, which LLVM's C interface cannot make. */
static bool map_wrapped(struct rh_debug_vars *dv, LLVMValueRef call, unsigned operand,
                        rh_debug_vars_value *value_of, void *arg)
{
    LLVMValueRef wrapper = LLVMGetOperand(call, operand);
    LLVMMetadataKind kind = LLVMGetMetadataKind(LLVMValueAsMetadata(wrapper));
    if (kind == LLVMDIArgListMetadataKind)
        return false;
    if (kind != LLVMLocalAsMetadataMetadataKind)
        return true;
    LLVMValueRef value;
    LLVMGetMDNodeOperands(wrapper, &value);
    LLVMMetadataRef mapped = LLVMValueAsMetadata(value_of(arg, value));
    LLVMSetOperand(call, operand, LLVMMetadataAsValue(dv->context, mapped));
    return true;
}

void rh_debug_vars_copy(struct rh_debug_vars *dv, LLVMValueRef inst, LLVMValueRef copy,
                        rh_debug_vars_value *value_of, void *arg)
{
    enum { VALUE = 0, EXPRESSION = 2, ADDRESS = 4 };
    bool assigns = calls_intrinsic(inst, "llvm.dbg.assign");
    if (!assigns && !calls_intrinsic(inst, "llvm.dbg.value"))
        return;
    if (!map_wrapped(dv, copy, VALUE, value_of, arg)) {
        LLVMMetadataRef lost = LLVMValueAsMetadata(dv->lost);
        LLVMSetOperand(copy, VALUE, LLVMMetadataAsValue(dv->context, lost));
        LLVMSetOperand(copy, EXPRESSION, LLVMMetadataAsValue(dv->context, dv->plain));
    }
    if (assigns)
        map_wrapped(dv, copy, ADDRESS, value_of, arg);
}

#endif
