/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the instructions of x86-64 themselves tell about the stack, for code that has no call frame
 * information: return addresses, the linker's stubs, and the stubs of our keys.
 */
#ifndef RH_RUNTIME_ARCH_CODE_H
#define RH_RUNTIME_ARCH_CODE_H

#include "rt.h"

/* The longest call instruction. */
#define RT_CALL_LENGTH 7
/* As much of a linker's stub as is needed to know it. */
#define RT_JUMP_LENGTH 7
/* As much as is read before and behind an instruction of a key's stub. */
#define RT_STUB_BEFORE 8
#define RT_STUB_LENGTH 64

/* True if a call ends at the end of these bytes: what precedes a return address. */
RT_HIDDEN bool rt_arch_is_call(const uint8_t bytes[RT_CALL_LENGTH]);
/* Where the call before a return address goes, 0 if the call itself does not say. The bytes before
 * the address can be read. */
RT_HIDDEN uintptr_t rt_arch_call_target(uintptr_t return_address);
/* True if the code goes elsewhere at once, as the linker's stubs do, through a pointer. */
RT_HIDDEN bool rt_arch_is_jump(const uint8_t code[RT_JUMP_LENGTH]);

/* If this is an instruction of a key's stub: where the stub goes on in the end, and how far the
 * stack pointer of the code at the key is above the one of now. */
RT_HIDDEN bool rt_arch_leave_stub(const uint8_t *code, uintptr_t *resume, intptr_t *above);

#endif
