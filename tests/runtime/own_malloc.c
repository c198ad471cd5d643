/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose malloc locks a mutex: the wrapper is called before anything has been set up, from
 * inside the loader and from inside the lookup of the real functions.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { SIZE = 1 << 24 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char memory[SIZE] __attribute__((aligned(16)));
static size_t used;
static int calls;

/* The size lies before the block, for realloc. */
void *malloc(size_t size)
{
    size_t whole = (size + 31) & ~(size_t)15;
    if (pthread_mutex_lock(&mutex))
        abort();
    void *block = whole <= SIZE - used ? memory + used + 16 : NULL;
    used += block ? whole : 0;
    calls++;
    if (pthread_mutex_unlock(&mutex))
        abort();
    if (block)
        *(size_t *)((char *)block - 16) = size;
    else
        errno = ENOMEM;
    return block;
}

void free(void *block)
{
    (void)block;
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size);
}

void *realloc(void *old, size_t size)
{
    void *block = malloc(size);
    if (block && old) {
        size_t before = *(size_t *)((char *)old - 16);
        memcpy(block, old, before < size ? before : size);
    }
    return block;
}

static void *allocate(void *arg)
{
    for (int i = 0; i < 100; i++)
        CHECK(malloc(32));
    return arg;
}

int main(void)
{
    pthread_t thread;
    int before = calls;
    CHECK(pthread_create(&thread, NULL, allocate, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(calls >= before + 100);
    CHECK(!harness_is_exact() || harness_count(RT_SYNC_MUTEX_LOCK) >= 100);
    return 0;
}
