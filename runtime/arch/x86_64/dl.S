/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wrappers of dlopen and dlmopen, which go by their return address: each tells us, and goes on
 * to the real one as if it had been called there (runtime/dl.c).
 */
#ifndef RT_STATIC

	.macro go_on name, tell
	.weak	\name
	.type	\name, @function
	.balign	16
\name:
	.cfi_startproc
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	callq	\tell
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmpq	*%rax
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
	.hidden	rt_dl_opening
	.hidden	rt_dl_opening_apart
	go_on	dlopen, rt_dl_opening
	go_on	dlmopen, rt_dl_opening_apart

#endif

	.section .note.GNU-stack, "", @progbits
