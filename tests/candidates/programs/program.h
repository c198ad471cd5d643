/* SPDX-License-Identifier: Apache-2.0 */
/* What the annotated programs share: values that no optimiser can foresee or drop, and threads that
 * are started and joined by direct calls once this is inlined. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define INLINE   static inline __attribute__((always_inline, unused))

static __thread volatile unsigned long kept_value;
static __thread volatile unsigned made_values;

INLINE void keep(unsigned long value)
{
    kept_value = value;
}

INLINE int next(void)
{
    unsigned value = made_values;
    made_values = value + 1;
    return (int)value;
}

INLINE void start(pthread_t *thread, void *(*entry)(void *), void *arg)
{
    if (pthread_create(thread, NULL, entry, arg))
        abort();
}

INLINE void finish(pthread_t thread)
{
    if (pthread_join(thread, NULL))
        abort();
}

#endif
