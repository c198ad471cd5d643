/* SPDX-License-Identifier: Apache-2.0 */
/* The lock is taken on one branch only. */
#include "program.h"

static int counter, careful;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE void add(int *to)
{
    *to += next(); // RACE
}

static void *work(void *arg)
{
    int locked = arg != NULL;
    pthread_mutex_lock(&lock);
    if (locked)
        careful += next(); // NORACE
    else
        careful -= 1; // NORACE
    pthread_mutex_unlock(&lock);
    if (locked)
        pthread_mutex_lock(&lock);
    add(&counter);
    if (locked)
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    start(&a, work, NULL);
    start(&b, work, &counter);
    finish(a);
    finish(b);
    keep((unsigned long)(counter + careful));
    return 0;
}
