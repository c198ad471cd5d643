/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the runtime's stacks with those of libgcc's unwinder, taken at the same point.
 *
 * A program calls the functions below at points of interest; each prints and counts what differs,
 * and finish_comparisons gives the program's exit status, which is a failure also when there were
 * fewer comparisons than the program promises.
 */
#ifndef RH_TESTS_STACK_COMPARE_H
#define RH_TESTS_STACK_COMPARE_H

#include <stdint.h>

struct rt_thread;
struct rh_hook_frame;

#ifdef __cplusplus
extern "C" {
#endif

/* The calling thread with the bounds of its stack, as the runtime would have it. */
const struct rt_thread *find_self(void);
/* Both stacks are the same from the caller of this function to the thread's first frame. */
void compare_here(const char *where);
/* The runtime's stack begins with libgcc's, which ends in code without call frame information, and
 * goes on to `function`. */
void compare_beyond(const char *where, uintptr_t function, uintptr_t size);
/* In a hook: the runtime's stack at the key is what libgcc finds behind the thunk. */
void compare_at_key(const char *where, const struct rh_hook_frame *frame);
/* Executes function(arg) with a comparison before each instruction, of what it calls too. Returns
 * the number of instructions. */
long compare_each_instruction(const char *where, void (*function)(void *), void *arg);
/* The same without libgcc: for code that changes stacks under an unwinder's feet, of which no more
 * can be asked than that ours comes back. */
long walk_each_instruction(void (*function)(void *), void *arg);
/* Says that a check of the program itself failed. */
void fail_comparison(const char *where, const char *what);
int finish_comparisons(long at_least);

#ifdef __cplusplus
}
#endif

#endif
