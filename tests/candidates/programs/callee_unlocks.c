/* SPDX-License-Identifier: Apache-2.0 */
/* A callee releases the lock of its caller: what follows is not guarded. */
#include "program.h"

static int before, after;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE void finish_section(void)
{
    before += next(); // NORACE
    pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
    pthread_mutex_lock(&lock);
    before += next(); // NORACE
    finish_section();
    after += next(); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, work, NULL);
    start(&b, work, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(before + after));
    return 0;
}
