/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a module, for the files of src/ir alone: the snapshot's tables and the LLVM objects
 * behind it.
 */
#ifndef RH_IR_MODULE_H
#define RH_IR_MODULE_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "ir/ir.h"

struct rh_tags;

struct rh_module {
    struct rh_arena arena;
    LLVMContextRef context;
    LLVMModuleRef llvm;
    /* Of the triple, generic CPU: for the data layout and passes; NULL if the triple is unknown. */
    LLVMTargetMachineRef machine;
    char *name; /* what was opened, for messages */
    char *triple;
    char *inline_asm;
    uint32_t function_count, global_count, value_count, type_count;
    struct rh_function **functions;
    struct rh_value **globals;
    struct rh_strmap by_name; /* functions, globals and aliases: struct rh_value * */
    struct rh_map value_of;   /* LLVMValueRef -> struct rh_value *, as the snapshot was taken */
    struct rh_map type_of;    /* LLVMTypeRef -> struct rh_type * */
    struct rh_tags *tags;     /* read/tags.h */
    /* LLVM's first error on this context since the strbuf was last reset. A diagnostic handler is
     * always installed, because without one LLVM prints the error and exits. */
    struct rh_strbuf complaint;
};

/* As rh_ir_open, with `prepare`, unless NULL, called on LLVM's module before its snapshot is taken.
 */
enum rh_status rh_ir_open_prepared(const char *path,
                                   void (*prepare)(struct rh_module *m, void *arg), void *arg,
                                   struct rh_module **out);

#endif
