/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks of the program's threads, as return addresses, innermost first: the byte before each
 * belongs to the call that is under way. The same holds for the other two kinds of place, so that a
 * reader need not tell them apart: of a key it is the address behind the key, and of an instruction
 * that a signal interrupted, on top or further out, its own address plus one.
 *
 * How it works: each frame's caller is found through the call frame information (.eh_frame) that
 * every image carries, whose rows are cached by instruction address, so that a frame seen before
 * costs one lookup; code without such information (hand-written, generated at run time) is passed
 * through its frame pointer if it keeps one. Memory is only read inside the thread's own stack, or,
 * where its bounds are not known, after asking the kernel whether it is there. No lock is taken and
 * no libc function is called, so it works in hooks and in crash handlers.
 */
#ifndef RH_RUNTIME_STACK_STACK_H
#define RH_RUNTIME_STACK_STACK_H

#include "rt.h"

/* The stack of the code at a key: pcs[0] is the key itself. Returns how many were found. `self` may
 * be NULL in all three: the bounds of the stack are not known then. To be called on the stack that
 * the key is on. */
RT_HIDDEN uint32_t rt_stack_at_key(const struct rt_thread *self, const struct rh_hook_frame *frame,
                                   uintptr_t *pcs, uint32_t max);
/* The stack of the caller, for wrappers: pcs[0] is the call of this function. */
RT_HIDDEN uint32_t rt_stack_here(const struct rt_thread *self, uintptr_t *pcs, uint32_t max);
/* The stack at a signal, from its ucontext_t. */
RT_HIDDEN uint32_t rt_stack_at_signal(const struct rt_thread *self, const void *context,
                                      uintptr_t *pcs, uint32_t max);

struct rt_registers;
/* A stack of which there is a copy: of `size` bytes from the stack pointer on, taken right behind
 * an instruction, which is the one that pcs[0] is behind. */
RT_HIDDEN uint32_t rt_stack_in_copy(const struct rt_registers *registers, const void *bytes,
                                    size_t size, uintptr_t *pcs, uint32_t max);

/* Images come and go: to be called before threads run, when an image is registered, and after one
 * may have been unloaded (dlclose). When nothing has changed it costs no more than asking libc for
 * its counts of loads and unloads, so ordinary code that is about to take stacks may call it as a
 * check. Not in hooks or signal handlers: it calls dl_iterate_phdr. Code of an image that it has
 * not seen yet is walked by frame pointer. */
RT_HIDDEN void rt_stack_refresh(void);

#endif
