/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small services over LLVM's C interface that several files of src/ir share.
 */
#ifndef RH_IR_REWRITE_LLVM_KIT_H
#define RH_IR_REWRITE_LLVM_KIT_H

#include <stdbool.h>
#include <stddef.h>

#include <llvm-c/Core.h>

#include "base/status.h"

/* Assembly with side effects as something to call. */
LLVMValueRef rh_llvm_asm(LLVMTypeRef type, const char *text, const char *constraints);

/* A call that never unwinds. */
void rh_llvm_mark_nounwind(LLVMContextRef context, LLVMValueRef call);

/* Marks a call as inserted by us, and tells such a call. */
void rh_llvm_mark_inserted(LLVMContextRef context, LLVMValueRef call);
bool rh_llvm_is_inserted(LLVMValueRef inst);

/* Adds globals to llvm.compiler.used: the compiler keeps them, the linker need not. LLVM cannot
 * grow that list in place: it becomes a new variable. */
void rh_llvm_keep(LLVMModuleRef module, LLVMValueRef *globals, size_t count);

/* Writes a module as bitcode, atomically; it must be valid. */
enum rh_status rh_llvm_write_bitcode(LLVMModuleRef module, const char *path);

/* RH_ERR_INTERNAL with LLVM's first complaint if the module is not valid. */
enum rh_status rh_llvm_verify(LLVMModuleRef module);

#endif
