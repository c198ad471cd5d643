/* SPDX-License-Identifier: Apache-2.0 */
/* Finds file-scope assembly in the bitcode beside an object's machine code. */
#include "ir/read/assembly.h"

#include <string.h>

#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/Object.h>

/* The bitcode is read lazily: only what stands outside functions is needed. */
static bool module_has_assembly(const char *bitcode, size_t size)
{
    bool has = false;
    LLVMModuleRef module;
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef memory =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(bitcode, size, "bitcode");
    if (LLVMGetBitcodeModuleInContext2(context, memory, &module) == 0) {
        size_t length = 0;
        LLVMGetModuleInlineAsm(module, &length);
        has = length > 0;
        LLVMDisposeModule(module); /* and the memory with it */
    }
    LLVMContextDispose(context);
    return has;
}

static bool binary_has_assembly(LLVMBinaryRef binary)
{
    bool has = false;
    LLVMSectionIteratorRef at = LLVMObjectFileCopySectionIterator(binary);
    while (at && !LLVMObjectFileIsSectionIteratorAtEnd(binary, at)) {
        const char *name = LLVMGetSectionName(at);
        if (name && strcmp(name, ".llvm.lto") == 0)
            has |= module_has_assembly(LLVMGetSectionContents(at), LLVMGetSectionSize(at));
        LLVMMoveToNextSection(at);
    }
    if (at)
        LLVMDisposeSectionIterator(at);
    return has;
}

enum rh_status rh_ir_has_assembly(const char *object_path, bool *has)
{
    char *message = NULL;
    LLVMMemoryBufferRef memory;
    *has = false;
    if (LLVMCreateMemoryBufferWithContentsOfFile(object_path, &memory, &message)) {
        enum rh_status status = rh_fail(RH_ERR_IO, "cannot read %s: %s", object_path, message);
        LLVMDisposeMessage(message);
        return status;
    }
    LLVMBinaryRef binary = LLVMCreateBinary(memory, NULL, &message);
    if (!binary) {
        LLVMDisposeMessage(message); /* not an object: nothing beside it either */
    } else {
        LLVMBinaryType type = LLVMBinaryGetType(binary);
        if (type == LLVMBinaryTypeELF64L)
            *has = binary_has_assembly(binary);
        LLVMDisposeBinary(binary);
    }
    LLVMDisposeMemoryBuffer(memory);
    return RH_OK;
}
