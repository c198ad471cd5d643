/* SPDX-License-Identifier: Apache-2.0 */
/* The lock is given up one line too early. */
#include "../program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count, last;

static void *work(void *arg)
{
    pthread_mutex_lock(&lock);
    count++; // NORACE
    pthread_mutex_unlock(&lock);
    last = next(); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, work, NULL);
    start(&b, work, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(count + last)); // NORACE
    return 0;
}
