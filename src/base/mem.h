/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heap allocation that cannot fail: a tool that runs out of memory says so in one line and exits.
 *
 * None of these returns NULL, also not for a size of 0; what they return is given back with free().
 * Sizes that overflow count as out of memory.
 */
#ifndef RH_BASE_MEM_H
#define RH_BASE_MEM_H

#include <stddef.h>

/* Uninitialised memory. */
void *rh_alloc(size_t size);
void *rh_alloc_array(size_t count, size_t size);

/* Zeroed memory. */
void *rh_calloc(size_t count, size_t size);

/* Resizes `old`, which may be NULL; the part beyond the old size is uninitialised. */
void *rh_realloc(void *old, size_t size);
void *rh_realloc_array(void *old, size_t count, size_t size);

/* Copies of a string; rh_strndup takes at most `max` bytes and always terminates. */
char *rh_strdup(const char *text);
char *rh_strndup(const char *text, size_t max);

/* Ends the process as the functions above do; for containers that detect an overflow themselves. */
_Noreturn void rh_out_of_memory(size_t wanted);

#endif
