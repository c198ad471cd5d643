/* SPDX-License-Identifier: Apache-2.0 */
/* Two libraries without bitcode that run functions in threads: with threads of their own (pool.c),
 * and with gcc's OpenMP (gomp.c). */
#ifndef PROCESS_POOL_H
#define PROCESS_POOL_H

/* Calls `body` with 0 to count - 1 in several threads, and returns when all is done. */
void pool_for_each(int count, void (*body)(int index, void *arg), void *arg);
/* A lock that is made of an atomic flag. */
void pool_lock(void);
void pool_unlock(void);

/* The same by `#pragma omp parallel for` and `critical`. */
void gomp_for_each(int count, void (*body)(int index, void *arg), void *arg);
void gomp_in_turn(void (*body)(int index, void *arg), int index, void *arg);

#endif
