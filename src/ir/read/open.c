/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens and closes modules: parsing and checking LLVM's module before the snapshot.
 *
 * Input is not trusted. LLVM's ways of ending the process on bad input are closed off: parse errors
 * go to our diagnostic handler, and the check that LLVM itself runs on modules with debug
 * information, which prints and aborts, is replaced by our own.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Support.h>
#include <llvm/Config/llvm-config.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "ir/read/snapshot.h"
#include "ir/read/tags.h"

static void init_llvm(void)
{
    static const char *const options[] = {"racehive", "-disable-auto-upgrade-debug-info"};

    LLVMParseCommandLineOptions(2, options, NULL);
    LLVMInitializeNativeTarget();
}

static void keep_complaint(LLVMDiagnosticInfoRef info, void *data)
{
    struct rh_module *m = data;
    char *text = LLVMGetDiagInfoDescription(info);

    LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
    if (severity == LLVMDSWarning)
        rh_log_step("%s: %s", m->name, text);
    else if (severity == LLVMDSError && m->complaint.len == 0)
        rh_strbuf_add(&m->complaint, text);
    LLVMDisposeMessage(text);
}

/* A failure with the first line of LLVM's message, which it frees. */
static enum rh_status fail_input(const struct rh_module *m, char *message)
{
    const char *text = message && *message ? message : rh_strbuf_text(&m->complaint);
    enum rh_status status =
        rh_fail(RH_ERR_INPUT, "cannot read %s: %.*s", m->name, (int)strcspn(text, "\n"),
                *text ? text : "LLVM gives no reason");

    LLVMDisposeMessage(message);
    return status;
}

static bool is_bitcode(const void *data, size_t size)
{
    return size >= 4 &&
           (memcmp(data, "BC\xC0\xDE", 4) == 0 || memcmp(data, "\xDE\xC0\x17\x0B", 4) == 0);
}

static enum rh_status parse_bitcode(struct rh_module *m, const void *data, size_t size)
{
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(data, size, m->name, 0);
    LLVMBool failed = LLVMParseBitcodeInContext2(m->context, buffer, &m->llvm);

    LLVMDisposeMemoryBuffer(buffer);
    if (!failed)
        return RH_OK;
    m->llvm = NULL;
    return fail_input(m, NULL);
}

static enum rh_status parse_text(struct rh_module *m, const void *data, size_t size)
{
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(data, size, m->name);
    char *message = NULL;
    LLVMBool failed;

#if LLVM_VERSION_MAJOR >= 22
    failed = LLVMParseIRInContext2(m->context, buffer, &m->llvm, &message);
    LLVMDisposeMemoryBuffer(buffer);
#else
    failed = LLVMParseIRInContext(m->context, buffer, &m->llvm, &message);
#endif
    if (!failed) {
        LLVMDisposeMessage(message);
        return RH_OK;
    }
    m->llvm = NULL;
    return fail_input(m, message);
}

/* Debug information that LLVM cannot use is left out, as LLVM's own tools do; code that is wrong
 * without it is refused. */
static enum rh_status check_module(struct rh_module *m)
{
    char *message = NULL;

    if (LLVMGetModuleDebugMetadataVersion(m->llvm) != LLVMDebugMetadataVersion())
        LLVMStripModuleDebugInfo(m->llvm);
    if (!LLVMVerifyModule(m->llvm, LLVMReturnStatusAction, &message)) {
        LLVMDisposeMessage(message);
        return RH_OK;
    }
    if (LLVMStripModuleDebugInfo(m->llvm)) {
        char *remaining = NULL;

        if (!LLVMVerifyModule(m->llvm, LLVMReturnStatusAction, &remaining)) {
            rh_log_warn("%s: left out its debug information, which is invalid: %.*s", m->name,
                        (int)strcspn(message, "\n"), message);
            LLVMDisposeMessage(message);
            LLVMDisposeMessage(remaining);
            return RH_OK;
        }
        LLVMDisposeMessage(message);
        message = remaining;
    }
    return fail_input(m, message);
}

static LLVMTargetMachineRef make_machine(const char *triple)
{
    LLVMTargetRef target;
    char *message = NULL;

    if (!*triple || LLVMGetTargetFromTriple(triple, &target, &message)) {
        LLVMDisposeMessage(message);
        return NULL;
    }
    return LLVMCreateTargetMachine(target, triple, "", "", LLVMCodeGenLevelDefault,
                                   LLVMRelocDefault, LLVMCodeModelDefault);
}

static void set_layout(struct rh_module *m)
{
    const char *present = LLVMGetDataLayoutStr(m->llvm);

    m->machine = make_machine(m->triple);
    if (m->machine && !*present) {
        LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(m->machine);

        LLVMSetModuleDataLayout(m->llvm, layout);
        LLVMDisposeTargetData(layout);
    }
}

static void copy_module_texts(struct rh_module *m)
{
    size_t len;
    const char *text = LLVMGetModuleInlineAsm(m->llvm, &len);

    m->inline_asm = rh_strndup(text, len);
    m->triple = rh_strdup(LLVMGetTarget(m->llvm));
}

/* What is to be done to a module before its snapshot is taken. */
struct preparation {
    void (*prepare)(struct rh_module *m, void *arg); /* or NULL */
    void *arg;
};

static enum rh_status load(struct rh_module *m, const void *data, size_t size,
                           const struct preparation *preparation)
{
    enum rh_status status =
        is_bitcode(data, size) ? parse_bitcode(m, data, size) : parse_text(m, data, size);

    if (status == RH_OK)
        status = check_module(m);
    if (status != RH_OK)
        return status;
    copy_module_texts(m);
    set_layout(m);
    if (preparation->prepare)
        preparation->prepare(m, preparation->arg);
    rh_snapshot_take(m);
    return RH_OK;
}

static enum rh_status open_memory(const char *name, const void *data, size_t size,
                                  const struct preparation *preparation, struct rh_module **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct rh_module *m;
    enum rh_status status;

    *out = NULL;
    if (size == 0)
        return rh_fail(RH_ERR_INPUT, "%s is empty", name);
    pthread_once(&once, init_llvm);
    m = rh_calloc(1, sizeof *m);
    m->name = rh_strdup(name);
    m->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(m->context, keep_complaint, m);
    status = load(m, data, size, preparation);
    if (status != RH_OK) {
        rh_ir_close(m);
        return status;
    }
    *out = m;
    return RH_OK;
}

enum rh_status rh_ir_open_memory(const char *name, const void *data, size_t size,
                                 struct rh_module **out)
{
    return open_memory(name, data, size, &(struct preparation){0}, out);
}

enum rh_status rh_ir_open(const char *path, struct rh_module **out)
{
    return rh_ir_open_prepared(path, NULL, NULL, out);
}

enum rh_status rh_ir_open_prepared(const char *path,
                                   void (*prepare)(struct rh_module *m, void *arg), void *arg,
                                   struct rh_module **out)
{
    struct preparation preparation = {prepare, arg};
    struct rh_fs_mapping file;
    enum rh_status status = rh_fs_map(path, &file);

    *out = NULL;
    if (status != RH_OK)
        return status;
    if (is_bitcode(file.data, file.len))
        status = open_memory(path, file.data, file.len, &preparation, out);
    else
        status = rh_fail(RH_ERR_INPUT, "%s is not LLVM bitcode", path);
    rh_fs_unmap(&file);
    return status;
}

void rh_ir_close(struct rh_module *m)
{
    if (!m)
        return;
    if (m->llvm)
        LLVMDisposeModule(m->llvm);
    if (m->machine)
        LLVMDisposeTargetMachine(m->machine);
    LLVMContextDispose(m->context);
    rh_strmap_release(&m->by_name);
    rh_map_release(&m->value_of);
    rh_map_release(&m->type_of);
    rh_tags_free(m->tags);
    rh_strbuf_release(&m->complaint);
    rh_arena_release(&m->arena);
    free(m->name);
    free(m->triple);
    free(m->inline_asm);
    free(m);
}
