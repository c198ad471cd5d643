/* SPDX-License-Identifier: Apache-2.0 */
/* A spinlock guards one counter; a second one is counted outside. */
#include "program.h"

static int inside, outside;
static pthread_spinlock_t lock;

static void *count(void *arg)
{
    pthread_spin_lock(&lock);
    inside += next(); // NORACE
    pthread_spin_unlock(&lock);
    outside += next(); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    start(&a, count, NULL);
    start(&b, count, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(inside + outside));
    return 0;
}
