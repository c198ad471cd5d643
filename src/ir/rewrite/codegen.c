/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a module: verification, and code generation into an object file.
 *
 * The module is optimised already, so only the code generator runs. LLVM's C interface reaches few
 * of its options; what a compiler would set there and we cannot, section_constructors and
 * section_functions do to the module.
 */
#include <llvm-c/Comdat.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include "base/fs.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "ir/module.h"
#include "ir/rewrite/debug_vars.h"
#include "ir/rewrite/llvm_kit.h"
#include "ir/rewrite/rewrite.h"

enum rh_status rh_ir_verify(struct rh_module *m)
{
    return rh_llvm_verify(m->llvm);
}

/* The lists of functions to run before and after main, and the sections that hold them. */
static const struct structors {
    const char *list;
    const char *section;
} structor_lists[] = {
    {"llvm.global_ctors", ".init_array"},
    {"llvm.global_dtors", ".fini_array"},
};

/* The priority of functions that asked for none. */
#define PLAIN_PRIORITY 65535

/* One entry of such a list, as a pointer in the section that the C library walks. Returns NULL if
 * the variable that the entry initialises is not defined here. */
static LLVMValueRef add_structor(LLVMModuleRef module, const char *section, LLVMValueRef entry)
{
    unsigned long long priority = LLVMConstIntGetZExtValue(LLVMGetOperand(entry, 0));
    LLVMValueRef function = LLVMGetOperand(entry, 1);
    LLVMValueRef key = LLVMIsAGlobalObject(LLVMGetOperand(entry, 2));
    if (LLVMIsNull(function))
        return NULL;
    if (key && (LLVMIsDeclaration(key) || LLVMGetLinkage(key) == LLVMAvailableExternallyLinkage))
        return NULL;

    LLVMValueRef pointer = LLVMAddGlobal(module, LLVMTypeOf(function), "");
    LLVMSetInitializer(pointer, function);
    LLVMSetLinkage(pointer, LLVMPrivateLinkage);
    LLVMSetAlignment(pointer,
                     LLVMABIAlignmentOfType(LLVMGetModuleDataLayout(module), LLVMTypeOf(function)));
    struct rh_strbuf name = RH_STRBUF_INIT;
    rh_strbuf_add(&name, section);
    if (priority != PLAIN_PRIORITY)
        rh_strbuf_addf(&name, ".%05llu", priority);
    LLVMSetSection(pointer, rh_strbuf_text(&name));
    rh_strbuf_release(&name);
    if (key && LLVMGetComdat(key))
        LLVMSetComdat(pointer, LLVMGetComdat(key));
    return pointer;
}

/* Without the option for it, LLVM writes constructors to .ctors, which today's C libraries do not
 * run. */
static void section_constructors(LLVMModuleRef module)
{
    RH_VEC(LLVMValueRef) kept = RH_VEC_INIT;
    for (size_t i = 0; i < sizeof structor_lists / sizeof *structor_lists; i++) {
        LLVMValueRef list = LLVMGetNamedGlobal(module, structor_lists[i].list);
        if (!list || LLVMIsDeclaration(list))
            continue;
        LLVMValueRef entries = LLVMGetInitializer(list);
        int count = LLVMGetNumOperands(entries);
        for (int k = 0; k < count; k++) {
            LLVMValueRef entry = LLVMGetOperand(entries, (unsigned)k);
            if (LLVMIsNull(entry))
                break; /* an empty entry ends the list */
            LLVMValueRef pointer = add_structor(module, structor_lists[i].section, entry);
            if (pointer)
                rh_vec_push(&kept, pointer);
        }
        LLVMDeleteGlobal(list);
    }
    if (kept.len)
        rh_llvm_keep(module, kept.data, kept.len);
    rh_vec_free(&kept);
}

/*
 * One section for each function, so that the linker can drop those that nothing needs. Functions
 * in groups that the linker deduplicates have their own sections anyway. Data stays together: its
 * right section depends on what LLVM alone knows of it, and link-time optimisation has dropped what
 * is unused.
 */
static void section_functions(LLVMModuleRef module)
{
    static const char pragma[] = "implicit-section-name";
    struct rh_strbuf section = RH_STRBUF_INIT;
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn)) {
        const char *own = LLVMGetSection(fn);
        if (LLVMIsDeclaration(fn) || (own && *own) || LLVMGetComdat(fn) ||
            LLVMGetStringAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                          pragma, sizeof pragma - 1))
            continue;
        const char *name = LLVMGetValueName(fn);
        rh_strbuf_reset(&section);
        /* A leading 1 tells LLVM to take the name as it is. */
        rh_strbuf_addf(&section, ".text.%s", *name == '\1' ? name + 1 : name);
        LLVMSetSection(fn, rh_strbuf_text(&section));
    }
    rh_strbuf_release(&section);
}

/* The code model that the program was compiled for. */
static LLVMCodeModel code_model(const struct rh_module *m)
{
    /* By LLVM's own numbers, which the flag holds. */
    static const LLVMCodeModel models[] = {
        LLVMCodeModelTiny,   LLVMCodeModelSmall, LLVMCodeModelKernel,
        LLVMCodeModelMedium, LLVMCodeModelLarge,
    };
    static const char flag[] = "Code Model";
    LLVMMetadataRef node = LLVMGetModuleFlag(m->llvm, flag, sizeof flag - 1);
    if (!node)
        return LLVMCodeModelDefault;
    LLVMValueRef number;
    LLVMGetMDNodeOperands(LLVMMetadataAsValue(m->context, node), &number);
    unsigned long long i = LLVMConstIntGetZExtValue(number);
    return i < sizeof models / sizeof *models ? models[i] : LLVMCodeModelDefault;
}

static enum rh_status make_machine(const struct rh_module *m, const struct rh_codegen *cg,
                                   LLVMTargetMachineRef *machine)
{
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser();
    LLVMTargetRef target;
    char *text = NULL;
    if (LLVMGetTargetFromTriple(LLVMGetTarget(m->llvm), &target, &text)) {
        enum rh_status status = rh_fail(RH_ERR_UNSUPPORTED, "%s", text);
        LLVMDisposeMessage(text);
        return status;
    }
    LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
    if (cg->cpu)
        LLVMTargetMachineOptionsSetCPU(options, cg->cpu);
    if (cg->features)
        LLVMTargetMachineOptionsSetFeatures(options, cg->features);
    LLVMTargetMachineOptionsSetCodeGenOptLevel(options, (LLVMCodeGenOptLevel)cg->opt_level);
    LLVMTargetMachineOptionsSetRelocMode(options, cg->pic ? LLVMRelocPIC : LLVMRelocStatic);
    LLVMTargetMachineOptionsSetCodeModel(options, code_model(m));
    *machine = LLVMCreateTargetMachineWithOptions(target, LLVMGetTarget(m->llvm), options);
    LLVMDisposeTargetMachineOptions(options);
    return RH_OK;
}

static enum rh_status generate(struct rh_module *m, LLVMTargetMachineRef machine, const char *path)
{
    LLVMMemoryBufferRef object = NULL;
    char *text = NULL;
    enum rh_status status;
    rh_strbuf_reset(&m->complaint);
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, m->llvm, LLVMObjectFile, &text, &object)) {
        status = rh_fail(RH_ERR_UNSUPPORTED, "cannot generate code: %s", text);
        LLVMDisposeMessage(text);
        return status;
    }
    if (m->complaint.len)
        status = rh_fail(RH_ERR_INPUT, "cannot generate code: %s", rh_strbuf_text(&m->complaint));
    else
        status = rh_fs_write(path, LLVMGetBufferStart(object), LLVMGetBufferSize(object), 0666);
    LLVMDisposeMemoryBuffer(object);
    return status;
}

enum rh_status rh_ir_write_object(struct rh_module *m, const struct rh_codegen *cg,
                                  const char *path)
{
    enum rh_status status = rh_ir_verify(m);
    if (status != RH_OK)
        return status;
    LLVMTargetMachineRef machine = NULL;
    status = make_machine(m, cg, &machine);
    if (status != RH_OK)
        return status;
    rh_debug_vars_pack(m->llvm);
    section_constructors(m->llvm);
    section_functions(m->llvm);
    status = generate(m, machine, path);
    LLVMDisposeTargetMachine(machine);
    return status;
}
