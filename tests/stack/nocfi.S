/* SPDX-License-Identifier: Apache-2.0 */
/* Functions without call frame information, each calling its first argument. */
        .text

/* Keeps a frame pointer. Position-independent and self-contained: it is also copied. */
        .globl  pass_framed, pass_framed_end
        .type   pass_framed, @function
pass_framed:
        pushq   %rbp
        movq    %rsp, %rbp
        subq    $32, %rsp
        movq    %rdi, %rax
        movq    %rsi, %rdi
        call    *%rax
        leave
        ret
pass_framed_end:
        .size   pass_framed, .-pass_framed

/* Keeps none, and leaves its second argument in the frame pointer. */
        .globl  pass_frameless
        .type   pass_frameless, @function
pass_frameless:
        pushq   %rbp
        movq    %rsi, %rbp
        subq    $16, %rsp
        call    *%rdi
        addq    $16, %rsp
        popq    %rbp
        ret
        .size   pass_frameless, .-pass_frameless

/* Faults at once. */
        .globl  fault_in_leaf
        .type   fault_in_leaf, @function
fault_in_leaf:
        xorl    %eax, %eax
        movq    (%rax), %rax
        ret
        .size   fault_in_leaf, .-fault_in_leaf
        .section .note.GNU-stack,"",@progbits
