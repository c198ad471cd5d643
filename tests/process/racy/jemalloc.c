/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads count without a lock, while their blocks come from jemalloc. Its own atomics order
 * nothing that a program may rely on. */
// NEEDS: -ljemalloc
#include <pthread.h>

#include "../../racemob/program.h"

static int total, rounds;

static void *count(void *arg)
{
    for (int i = 0; i < rounds; i++) {
        int *block = malloc(64);
        must(block != NULL);
        *block = next();
        total += *block; // RACE
        free(block);
        nap(50);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    rounds = unforeseen(100);
    must(!pthread_create(&a, NULL, count, NULL) && !pthread_create(&b, NULL, count, NULL));
    must(!pthread_join(a, NULL) && !pthread_join(b, NULL));
    keep((unsigned long)total);
    return 0;
}
