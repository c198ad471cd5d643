/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging bitcode files into one.
 */
#include "ir/rewrite/link.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>

#include "base/fs.h"
#include "base/strbuf.h"
#include "ir/rewrite/llvm_kit.h"

/* Without a handler LLVM prints an error and ends the process. */
static void keep_first_error(LLVMDiagnosticInfoRef info, void *cookie)
{
    struct rh_strbuf *error = cookie;
    if (error->len || LLVMGetDiagInfoSeverity(info) != LLVMDSError)
        return;
    char *text = LLVMGetDiagInfoDescription(info);
    rh_strbuf_add(error, text);
    LLVMDisposeMessage(text);
}

static enum rh_status read_module(LLVMContextRef context, const struct rh_strbuf *error,
                                  const char *path, LLVMModuleRef *module)
{
    struct rh_fs_mapping file;
    enum rh_status status = rh_fs_map(path, &file);
    if (status != RH_OK)
        return status;
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange(file.data, file.len, path, 0);
    if (LLVMParseBitcodeInContext2(context, buffer, module)) {
        *module = NULL;
        status = rh_fail(RH_ERR_INPUT, "cannot read %s: %s", path, rh_strbuf_text(error));
    }
    LLVMDisposeMemoryBuffer(buffer);
    rh_fs_unmap(&file);
    return status;
}

/* Linking consumes the second module, also when it fails. */
static enum rh_status add_module(LLVMModuleRef into, const struct rh_strbuf *error,
                                 const char *path)
{
    LLVMModuleRef next;
    enum rh_status status = read_module(LLVMGetModuleContext(into), error, path, &next);
    if (status == RH_OK && LLVMLinkModules2(into, next))
        status = rh_fail(RH_ERR_INPUT, "cannot link %s: %s", path, rh_strbuf_text(error));
    return status;
}

enum rh_status rh_ir_link(const char *const *paths, size_t n, const char *out_path)
{
    LLVMContextRef context = LLVMContextCreate();
    struct rh_strbuf error = RH_STRBUF_INIT;
    LLVMContextSetDiagnosticHandler(context, keep_first_error, &error);
    LLVMModuleRef into = NULL;
    enum rh_status status = read_module(context, &error, paths[0], &into);
    for (size_t i = 1; i < n && status == RH_OK; i++)
        status = add_module(into, &error, paths[i]);
    if (status == RH_OK)
        status = rh_llvm_verify(into);
    if (status == RH_OK)
        status = rh_llvm_write_bitcode(into, out_path);
    if (into)
        LLVMDisposeModule(into);
    LLVMContextDispose(context);
    rh_strbuf_release(&error);
    return status;
}
