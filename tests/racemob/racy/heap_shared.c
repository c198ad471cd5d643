/* SPDX-License-Identifier: Apache-2.0 */
/* A block that is alive all the time is written by two threads; that the same addresses were
 * someone else's before is no excuse. */
#include "../program.h"
#include <malloc.h>

enum { SIZE = 4096 };

static int *shared;
static int made;

static void *make(void *arg)
{
    char *earlier = malloc(SIZE);
    must(earlier != NULL);
    memset(earlier, next(), SIZE); // NORACE
    keep((unsigned long)earlier[next()]);
    free(earlier);
    int *block = malloc(SIZE);
    must(block != NULL);
    block[3] = next(); // NORACE
    __atomic_store_n(&shared, block, __ATOMIC_RELEASE);
    tell(&made, 1);
    block[3] = next(); // RACE
    return arg;
}

static void *use(void *arg)
{
    int *block;
    await(&made, 1);
    block = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
    block[3] += next(); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    mallopt(M_ARENA_MAX, 1);
    start(&a, make, NULL);
    start(&b, use, NULL);
    finish(a);
    finish(b);
    free(shared);
    return 0;
}
