# SPDX-License-Identifier: Apache-2.0
# The runtime's walks over stacks. All reached by hooks, so compiled with -mgeneral-regs-only; none
# but images.c, and there only rt_stack_refresh, calls libc.
set(RH_RUNTIME_STACK_SOURCES
    stack/stack.c
    stack/images.c
    stack/image_names.c
    stack/cfi.c
    stack/cfi_expression.c
    arch/x86_64/registers.c
    arch/x86_64/code.c)
