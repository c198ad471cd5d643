/* SPDX-License-Identifier: Apache-2.0 */
// TSAN: cannot, the resolver runs before it is ready
/* A function in several versions, of which the machine it runs on decides. */
#include "program.h"

static long total;

__attribute__((target_clones("avx2", "default"))) static void add(long *at, long n)
{
    *at += n; // RACE
}

static void *work(void *arg)
{
    add(&total, next());
    return arg;
}

int main(void)
{
    pthread_t thread;
    start(&thread, work, NULL);
    total = 1; // RACE
    finish(thread);
    keep((unsigned long)total);
    return 0;
}
