/* SPDX-License-Identifier: Apache-2.0 */
/* Wraps functions that the user says synchronise: see named.h. */
#include "ir/rewrite/named.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>

#include "base/mem.h"
#include "ir/module.h"
#include "ir/rewrite/rewrite.h"

struct wrapping {
    struct rh_module *m;
    LLVMValueRef fn, wrapper;
    LLVMTypeRef type;
    unsigned count; /* of parameters */
    const struct rh_named *row;
};

bool rh_named_is(const char *function, const char *name)
{
    size_t len = strlen(name);
    if (strncmp(function, name, len) != 0)
        return false;
    const char *rest = function + len;
    return !*rest || (*rest == '.' && rest[1] && rest[1 + strspn(rest + 1, "0123456789")] == '\0');
}

static bool is_pointer(const struct wrapping *w, unsigned i)
{
    return i < w->count &&
           LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(w->fn, i))) == LLVMPointerTypeKind;
}

/* Arguments that were all the same may be gone: the optimiser has put them into the function. */
static bool can_wrap(const struct wrapping *w)
{
    return !LLVMIsFunctionVarArg(w->type) && is_pointer(w, w->row->argument) &&
           (!w->row->with_next || is_pointer(w, w->row->argument + 1));
}

/* --- attributes --- */

/* Of the function's own only what its caller or the unwinder sees; what it says of memory would be
 * wrong for the wrapper. */
static bool is_kept(LLVMAttributeRef attribute, LLVMAttributeIndex at)
{
    if (at != (LLVMAttributeIndex)LLVMAttributeFunctionIndex)
        return true;
    if (LLVMIsStringAttribute(attribute))
        return true;
    unsigned kind = LLVMGetEnumAttributeKind(attribute);
    return kind == LLVMGetEnumAttributeKindForName("uwtable", strlen("uwtable")) ||
           kind == LLVMGetEnumAttributeKindForName("nounwind", strlen("nounwind"));
}

static void copy_attributes_at(const struct wrapping *w, LLVMAttributeIndex at, LLVMValueRef call)
{
    unsigned count = LLVMGetAttributeCountAtIndex(w->fn, at);
    LLVMAttributeRef *all = rh_calloc(count + 1u, sizeof *all);
    LLVMGetAttributesAtIndex(w->fn, at, all);
    for (unsigned i = 0; i < count; i++) {
        if (!is_kept(all[i], at))
            continue;
        LLVMAddAttributeAtIndex(w->wrapper, at, all[i]);
        if (at != (LLVMAttributeIndex)LLVMAttributeFunctionIndex)
            LLVMAddCallSiteAttribute(call, at, all[i]);
    }
    free(all);
}

static void copy_attributes(const struct wrapping *w, LLVMValueRef call)
{
    copy_attributes_at(w, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, call);
    for (unsigned i = 0; i <= w->count; i++) /* 0 is the result */
        copy_attributes_at(w, i, call);
}

/* --- the wrapper --- */

static LLVMValueRef declare_event(const struct wrapping *w, LLVMTypeRef *type)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(w->m->context, 0);
    LLVMTypeRef params[] = {pointer, pointer};
    *type = LLVMFunctionType(LLVMVoidTypeInContext(w->m->context), params,
                             w->row->with_next ? 2 : 1, 0);
    LLVMValueRef event = LLVMGetNamedFunction(w->m->llvm, w->row->event);
    return event ? event : LLVMAddFunction(w->m->llvm, w->row->event, *type);
}

static void build_event(const struct wrapping *w, LLVMBuilderRef builder)
{
    LLVMTypeRef type;
    LLVMValueRef event = declare_event(w, &type), args[2];
    unsigned count = w->row->with_next ? 2 : 1;
    for (unsigned i = 0; i < count; i++)
        args[i] = LLVMGetParam(w->wrapper, w->row->argument + i);
    LLVMBuildCall2(builder, type, event, args, count, "");
}

static void build_body(const struct wrapping *w)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(w->m->context);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(w->m->context, w->wrapper, ""));
    LLVMValueRef *args = rh_calloc(w->count + 1u, sizeof *args);
    LLVMGetParams(w->wrapper, args);
    if (!w->row->after)
        build_event(w, builder);
    LLVMValueRef call = LLVMBuildCall2(builder, w->type, w->fn, args, w->count, "");
    LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(w->fn));
    copy_attributes(w, call);
    if (w->row->after)
        build_event(w, builder);
    if (LLVMGetTypeKind(LLVMGetReturnType(w->type)) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(builder);
    else
        LLVMBuildRet(builder, call);
    free(args);
    LLVMDisposeBuilder(builder);
}

static void wrap(struct wrapping *w)
{
    w->wrapper = LLVMAddFunction(w->m->llvm, "__rh_wrapped", w->type);
    LLVMSetLinkage(w->wrapper, LLVMInternalLinkage);
    LLVMSetFunctionCallConv(w->wrapper, LLVMGetFunctionCallConv(w->fn));
    LLVMReplaceAllUsesWith(w->fn, w->wrapper);
    build_body(w);
}

static void wrap_row(struct rh_module *m, struct rh_named *row)
{
    LLVMValueRef next;
    for (LLVMValueRef fn = LLVMGetFirstFunction(m->llvm); fn; fn = next) {
        size_t len;
        next = LLVMGetNextFunction(fn);
        if (!rh_named_is(LLVMGetValueName2(fn, &len), row->name) || !LLVMGetFirstUse(fn))
            continue;
        struct wrapping w = {.m = m, .fn = fn, .type = LLVMGlobalGetValueType(fn), .row = row};
        w.count = LLVMCountParams(fn);
        bool fits = can_wrap(&w);
        row->wrapped += fits;
        row->refused += !fits;
        if (fits)
            wrap(&w);
    }
}

static void wrap_all(struct rh_module *m, void *list)
{
    struct rh_named_list *named = list;
    for (size_t i = 0; i < named->count; i++)
        wrap_row(m, &named->rows[i]);
}

enum rh_status rh_ir_open_named(const char *path, struct rh_named_list *list,
                                struct rh_module **out)
{
    enum rh_status status = rh_ir_open_prepared(path, wrap_all, list, out);
    if (status == RH_OK && list->count)
        status = rh_ir_verify(*out);
    return status;
}
