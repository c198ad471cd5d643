/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug-information nodes read field by field, for the files of src/ir alone.
 *
 * LLVM's C interface has getters for few fields; the rest are found as operands of the node. Where
 * each field sits depends on the kind of node and on LLVM's version: di.c holds that as one table,
 * and di_test.c checks the table against real metadata. Sizes, offsets, lines, tags and flags have
 * getters of their own (LLVMDITypeGetSizeInBits and the like): use those.
 */
#ifndef RH_IR_DEBUG_DI_H
#define RH_IR_DEBUG_DI_H

#include <stddef.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

enum rh_di_field {
    RH_DI_FILE,       /* of scopes, types and variables: DIFile */
    RH_DI_SCOPE,      /* what it is declared in */
    RH_DI_NAME,       /* string */
    RH_DI_LINKAGE,    /* string: mangled name of a function or variable */
    RH_DI_TYPE,       /* of variables and functions, and the type a derived type is made of */
    RH_DI_ELEMENTS,   /* of composite types: tuple of members; of function types: return, params */
    RH_DI_UNIT,       /* of functions: DICompileUnit */
    RH_DI_DECLARED,   /* of functions and variables: the declaration that this defines */
    RH_DI_COUNT,      /* of array ranges: number of elements, a constant */
    RH_DI_VARIABLE,   /* of global variable expressions */
    RH_DI_EXPRESSION, /* of global variable expressions */
    RH_DI_GLOBALS,    /* of compile units: tuple of global variable expressions */
    RH_DI_RETAINED,   /* of compile units: tuple of types that no variable need have */
    RH_DI_IDENTIFIER, /* string: mangled name of a C++ type that other files can name */
    RH_DI_FIELD_COUNT
};

/* The field of the node as metadata; NULL if the node is NULL, has no such field or lacks it. */
LLVMMetadataRef rh_di_get(LLVMContextRef context, LLVMMetadataRef node, enum rh_di_field field);

/* The same for fields that are constants (RH_DI_COUNT), as a value; NULL if it is no constant. */
LLVMValueRef rh_di_constant(LLVMContextRef context, LLVMMetadataRef node, enum rh_di_field field);

/* A string field, "" if absent; `len` may be NULL. It lives as long as the context. */
const char *rh_di_text(LLVMContextRef context, LLVMMetadataRef node, enum rh_di_field field,
                       size_t *len);

/* The entries of a tuple, some of which may be NULL; `tuple` may be NULL. Free the result. */
LLVMMetadataRef *rh_di_tuple(LLVMContextRef context, LLVMMetadataRef tuple, size_t *count);

/* The DIGlobalVariable of a global; NULL if it has none. */
LLVMMetadataRef rh_di_global_variable(LLVMContextRef context, LLVMValueRef global);

/* The DISubprogram that a scope lies in, lexical blocks climbed; NULL if it lies in none. */
LLVMMetadataRef rh_di_subprogram(LLVMContextRef context, LLVMMetadataRef scope);

#endif
