/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way from a key's stub to the hook and back, one copy in every image.
 *
 * The stub (src/instrument/keys.c) has stepped over the red zone, pushed the key's number, the size
 * and %rdi, put the address of the access into %rdi and called here. We save what a C function may
 * change of the general registers (the flags are free: the key's assembly says so) and hand the
 * whole as struct rh_hook_frame to the image's hook. Vector registers are not saved: the hook's fast
 * path is compiled without them.
 *
 * Unwinders see the code at the key as our caller: the return address is not the one on the stack,
 * which lies in the stub, but where the stub's last instruction, a jmp with a 32-bit distance,
 * leads. Behind the return address the stub has pop %rdi (1 byte), lea 144(%rsp),%rsp (8), jmp
 * (1 + 4), so the target is ret + 14 + *(int32_t *)(ret + 10).
 */
        .text
        .globl  __rh_thunk
        .hidden __rh_thunk
        .type   __rh_thunk, @function
        .p2align 4
__rh_thunk:
        .cfi_startproc simple
        .cfi_def_cfa %rsp, 160
        .cfi_return_column 16
        /* DW_CFA_val_expression of the return address (register 16), 18 bytes; the CFA is given:
           const1u 160; minus; deref; dup; plus_uconst 10; deref_size 4; const1u 32; shl;
           const1u 32; shra; plus; plus_uconst 14 */
        .cfi_escape 0x16, 16, 18, 0x08, 160, 0x1c, 0x06, 0x12, 0x23, 10, 0x94, 4, 0x08, 32, 0x24
        .cfi_escape 0x08, 32, 0x26, 0x22, 0x23, 14
        .cfi_undefined %rdi
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        pushq   %rcx
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        pushq   %r8
        .cfi_adjust_cfa_offset 8
        pushq   %r9
        .cfi_adjust_cfa_offset 8
        pushq   %r10
        .cfi_adjust_cfa_offset 8
        pushq   %r11
        .cfi_adjust_cfa_offset 8
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_offset %rbp, -240
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_offset %rbx, -248
        movq    %rsp, %rbx
        .cfi_def_cfa_register %rbx
        andq    $-16, %rsp
        movq    %rbx, %rsi
        leaq    __rh_image(%rip), %rdi
        call    *8(%rdi)
        movq    %rbx, %rsp
        .cfi_def_cfa_register %rsp
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbp
        popq    %r11
        .cfi_adjust_cfa_offset -8
        popq    %r10
        .cfi_adjust_cfa_offset -8
        popq    %r9
        .cfi_adjust_cfa_offset -8
        popq    %r8
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        popq    %rax
        .cfi_adjust_cfa_offset -8
        leaq    8(%rsp), %rsp
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   __rh_thunk, .-__rh_thunk

/*
 * The same for a check that has failed: most are done by the image's `check`, a C function, for which
 * fewer registers are saved. %r9 to %r11 belong to the check. What it refuses goes on to the hook.
 */
        .globl  __rh_check
        .hidden __rh_check
        .type   __rh_check, @function
        .p2align 4
__rh_check:
        .cfi_startproc simple
        .cfi_def_cfa %rsp, 160
        .cfi_return_column 16
        .cfi_escape 0x16, 16, 18, 0x08, 160, 0x1c, 0x06, 0x12, 0x23, 10, 0x94, 4, 0x08, 32, 0x24
        .cfi_escape 0x08, 32, 0x26, 0x22, 0x23, 14
        .cfi_undefined %rdi
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        pushq   %rcx
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %r8
        .cfi_adjust_cfa_offset 8
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_offset %rbx, -216
        movq    %rsp, %rbx
        .cfi_def_cfa_register %rbx
        andq    $-16, %rsp
        movq    %rdi, %rsi
        movq    80(%rbx), %rdx
        movq    72(%rbx), %rcx
        leaq    216(%rbx), %r8
        leaq    __rh_image(%rip), %rdi
        call    *88(%rdi)
        testb   %al, %al
        movq    %rbx, %rsp
        .cfi_def_cfa_register %rsp
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        popq    %r8
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        popq    %rax
        .cfi_adjust_cfa_offset -8
        je      __rh_thunk
        ret
        .cfi_endproc
        .size   __rh_check, .-__rh_check
        .section .note.GNU-stack,"",@progbits
