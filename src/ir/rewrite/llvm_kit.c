/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small services over LLVM's C interface that several files of src/ir share.
 */
#include "ir/rewrite/llvm_kit.h"

#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>

#include "base/fs.h"
#include "base/vec.h"
#include "ir/rewrite/debug_vars.h"

LLVMValueRef rh_llvm_asm(LLVMTypeRef type, const char *text, const char *constraints)
{
    return LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), true, false,
                            LLVMInlineAsmDialectATT, false);
}

void rh_llvm_mark_nounwind(LLVMContextRef context, LLVMValueRef call)
{
    static const char name[] = "nounwind";
    unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(context, kind, 0));
}

static unsigned inserted_kind(LLVMContextRef context)
{
    static const char name[] = "racehive.inserted";
    return LLVMGetMDKindIDInContext(context, name, sizeof name - 1);
}

void rh_llvm_mark_inserted(LLVMContextRef context, LLVMValueRef call)
{
    LLVMMetadataRef node = LLVMMDNodeInContext2(context, NULL, 0);
    LLVMSetMetadata(call, inserted_kind(context), LLVMMetadataAsValue(context, node));
}

bool rh_llvm_is_inserted(LLVMValueRef inst)
{
    return LLVMIsACallInst(inst) &&
           LLVMGetMetadata(inst, inserted_kind(LLVMGetTypeContext(LLVMTypeOf(inst))));
}

void rh_llvm_keep(LLVMModuleRef module, LLVMValueRef *globals, size_t count)
{
    static const char name[] = "llvm.compiler.used";
    RH_VEC(LLVMValueRef) kept = RH_VEC_INIT;
    LLVMValueRef old = LLVMGetNamedGlobal(module, name);
    if (old) {
        LLVMValueRef list = LLVMGetInitializer(old);
        int len = LLVMGetNumOperands(list);
        for (int i = 0; i < len; i++)
            rh_vec_push(&kept, LLVMGetOperand(list, (unsigned)i));
        LLVMDeleteGlobal(old);
    }
    for (size_t i = 0; i < count; i++)
        rh_vec_push(&kept, globals[i]);

    LLVMTypeRef pointer = LLVMPointerTypeInContext(LLVMGetModuleContext(module), 0);
    LLVMValueRef list = LLVMConstArray2(pointer, kept.data, kept.len);
    LLVMValueRef used = LLVMAddGlobal(module, LLVMTypeOf(list), name);
    LLVMSetInitializer(used, list);
    LLVMSetLinkage(used, LLVMAppendingLinkage);
    LLVMSetSection(used, "llvm.metadata");
    rh_vec_free(&kept);
}

enum rh_status rh_llvm_write_bitcode(LLVMModuleRef module, const char *path)
{
    rh_debug_vars_pack(module);
    LLVMMemoryBufferRef buffer = LLVMWriteBitcodeToMemoryBuffer(module);
    enum rh_status status =
        rh_fs_write(path, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer), 0666);
    LLVMDisposeMemoryBuffer(buffer);
    return status;
}

enum rh_status rh_llvm_verify(LLVMModuleRef module)
{
    char *text = NULL;
    enum rh_status status = RH_OK;
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &text)) {
        /* The first line says what is wrong, the second where. */
        char *what = strtok(text, "\n");
        char *where = strtok(NULL, "\n");
        status = rh_fail(RH_ERR_INTERNAL, "invalid module: %s%s%s", what ? what : "unknown fault",
                         where ? ": " : "", where ? where : "");
    }
    LLVMDisposeMessage(text);
    return status;
}
