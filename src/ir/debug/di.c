/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the fields of debug-information nodes sit among the operands of LLVM's metadata.
 */
#include "ir/debug/di.h"

#include <stdlib.h>

#include <llvm/Config/llvm-config.h>

#include "base/mem.h"

/* Since LLVM 21 the size and the offset of a type are operands, in front of what subclasses add. */
#if LLVM_VERSION_MAJOR >= 21
#define TYPE_FIRST 5
#else
#define TYPE_FIRST 3
#endif

#define FIELD_POSITION(position) ((position) + 1) /* so that 0 means "has no such field" */

/* One row per kind of node. */
static const unsigned char positions[][RH_DI_FIELD_COUNT] = {
    [LLVMDISubprogramMetadataKind] =
        {
            [RH_DI_FILE] = FIELD_POSITION(0),
            [RH_DI_SCOPE] = FIELD_POSITION(1),
            [RH_DI_NAME] = FIELD_POSITION(2),
            [RH_DI_LINKAGE] = FIELD_POSITION(3),
            [RH_DI_TYPE] = FIELD_POSITION(4),
            [RH_DI_UNIT] = FIELD_POSITION(5),
            [RH_DI_DECLARED] = FIELD_POSITION(6),
        },
    [LLVMDILexicalBlockMetadataKind] =
        {
            [RH_DI_FILE] = FIELD_POSITION(0),
            [RH_DI_SCOPE] = FIELD_POSITION(1),
        },
    [LLVMDILexicalBlockFileMetadataKind] =
        {
            [RH_DI_FILE] = FIELD_POSITION(0),
            [RH_DI_SCOPE] = FIELD_POSITION(1),
        },
    [LLVMDINamespaceMetadataKind] =
        {
            [RH_DI_SCOPE] = FIELD_POSITION(1),
            [RH_DI_NAME] = FIELD_POSITION(2),
        },
    [LLVMDICompileUnitMetadataKind] =
        {
            [RH_DI_FILE] = FIELD_POSITION(0),
            [RH_DI_RETAINED] = FIELD_POSITION(5),
            [RH_DI_GLOBALS] = FIELD_POSITION(6),
        },
    [LLVMDIBasicTypeMetadataKind] =
        {
            [RH_DI_NAME] = FIELD_POSITION(2),
        },
    [LLVMDIDerivedTypeMetadataKind] =
        {
            [RH_DI_FILE] = FIELD_POSITION(0),
            [RH_DI_SCOPE] = FIELD_POSITION(1),
            [RH_DI_NAME] = FIELD_POSITION(2),
            [RH_DI_TYPE] = FIELD_POSITION(TYPE_FIRST),
        },
    [LLVMDICompositeTypeMetadataKind] =
        {
            [RH_DI_FILE] = FIELD_POSITION(0),
            [RH_DI_SCOPE] = FIELD_POSITION(1),
            [RH_DI_NAME] = FIELD_POSITION(2),
            [RH_DI_TYPE] = FIELD_POSITION(TYPE_FIRST),
            [RH_DI_ELEMENTS] = FIELD_POSITION(TYPE_FIRST + 1),
            [RH_DI_IDENTIFIER] = FIELD_POSITION(TYPE_FIRST + 4),
        },
    [LLVMDISubroutineTypeMetadataKind] =
        {
            [RH_DI_ELEMENTS] = FIELD_POSITION(TYPE_FIRST),
        },
    [LLVMDISubrangeMetadataKind] =
        {
            [RH_DI_COUNT] = FIELD_POSITION(0),
        },
    [LLVMDILocalVariableMetadataKind] =
        {
            [RH_DI_SCOPE] = FIELD_POSITION(0),
            [RH_DI_NAME] = FIELD_POSITION(1),
            [RH_DI_FILE] = FIELD_POSITION(2),
            [RH_DI_TYPE] = FIELD_POSITION(3),
        },
    [LLVMDIGlobalVariableMetadataKind] =
        {
            [RH_DI_SCOPE] = FIELD_POSITION(0),
            [RH_DI_NAME] = FIELD_POSITION(1),
            [RH_DI_FILE] = FIELD_POSITION(2),
            [RH_DI_TYPE] = FIELD_POSITION(3),
            [RH_DI_LINKAGE] = FIELD_POSITION(5),
            [RH_DI_DECLARED] = FIELD_POSITION(6),
        },
    [LLVMDIGlobalVariableExpressionMetadataKind] =
        {
            [RH_DI_VARIABLE] = FIELD_POSITION(0),
            [RH_DI_EXPRESSION] = FIELD_POSITION(1),
        },
};

#define KIND_COUNT (sizeof positions / sizeof positions[0])

/* Enough for every node of the table; longer ones are tuples, which rh_di_tuple reads. */
#define MAX_OPERANDS 32

static LLVMValueRef read_field(LLVMContextRef context, LLVMMetadataRef node, enum rh_di_field field)
{
    LLVMValueRef value, operands[MAX_OPERANDS];
    unsigned kind, count, position;

    if (!node)
        return NULL;
    kind = (unsigned)LLVMGetMetadataKind(node);
    position = kind < KIND_COUNT ? positions[kind][field] : 0;
    if (position == 0)
        return NULL;
    value = LLVMMetadataAsValue(context, node);
    count = LLVMGetMDNodeNumOperands(value);
    if (position > count || count > MAX_OPERANDS)
        return NULL;
    LLVMGetMDNodeOperands(value, operands);
    return operands[position - 1];
}

LLVMMetadataRef rh_di_get(LLVMContextRef context, LLVMMetadataRef node, enum rh_di_field field)
{
    LLVMValueRef value = read_field(context, node, field);

    return value ? LLVMValueAsMetadata(value) : NULL;
}

LLVMValueRef rh_di_constant(LLVMContextRef context, LLVMMetadataRef node, enum rh_di_field field)
{
    LLVMValueRef value = read_field(context, node, field);

    return value && LLVMIsConstant(value) ? value : NULL;
}

const char *rh_di_text(LLVMContextRef context, LLVMMetadataRef node, enum rh_di_field field,
                       size_t *len)
{
    LLVMValueRef value = read_field(context, node, field);
    unsigned length = 0;
    const char *text = value ? LLVMGetMDString(value, &length) : NULL;

    if (len)
        *len = text ? length : 0;
    return text ? text : "";
}

LLVMMetadataRef *rh_di_tuple(LLVMContextRef context, LLVMMetadataRef tuple, size_t *count)
{
    LLVMMetadataRef *entries;
    LLVMValueRef value, *operands;
    unsigned n;

    *count = 0;
    if (!tuple || LLVMGetMetadataKind(tuple) != LLVMMDTupleMetadataKind)
        return NULL;
    value = LLVMMetadataAsValue(context, tuple);
    n = LLVMGetMDNodeNumOperands(value);
    operands = rh_alloc_array(n, sizeof *operands);
    entries = rh_alloc_array(n, sizeof *entries);
    LLVMGetMDNodeOperands(value, operands);
    for (unsigned i = 0; i < n; i++)
        entries[i] = operands[i] ? LLVMValueAsMetadata(operands[i]) : NULL;
    free(operands);
    *count = n;
    return entries;
}

LLVMMetadataRef rh_di_global_variable(LLVMContextRef context, LLVMValueRef global)
{
    LLVMMetadataRef variable = NULL;
    size_t count;
    LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(global, &count);

    for (size_t i = 0; i < count && !variable; i++) {
        LLVMMetadataRef node = LLVMValueMetadataEntriesGetMetadata(entries, (unsigned)i);

        if (LLVMGetMetadataKind(node) == LLVMDIGlobalVariableExpressionMetadataKind)
            variable = rh_di_get(context, node, RH_DI_VARIABLE);
    }
    LLVMDisposeValueMetadataEntries(entries);
    return variable;
}

LLVMMetadataRef rh_di_subprogram(LLVMContextRef context, LLVMMetadataRef scope)
{
    while (scope) {
        LLVMMetadataKind kind = LLVMGetMetadataKind(scope);

        if (kind == LLVMDISubprogramMetadataKind)
            return scope;
        if (kind != LLVMDILexicalBlockMetadataKind && kind != LLVMDILexicalBlockFileMetadataKind)
            return NULL;
        scope = rh_di_get(context, scope, RH_DI_SCOPE);
    }
    return NULL;
}
