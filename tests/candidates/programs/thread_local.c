/* SPDX-License-Identifier: Apache-2.0 */
/* Thread-local variables: one stays with its thread, the address of the other is given away. */
#include "program.h"

static _Thread_local int own, lent;
static int *borrowed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both, done;

static void *lend(void *arg)
{
    own += next(); // NORACE
    pthread_mutex_lock(&lock);
    borrowed = &lent;
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&both);
    lent = next(); // RACE
    pthread_barrier_wait(&done);
    keep((unsigned long)own);
    return arg;
}

static void *borrow(void *arg)
{
    own -= next(); // NORACE
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&lock);
    int *p = borrowed;
    pthread_mutex_unlock(&lock);
    *p += 3; // RACE
    pthread_barrier_wait(&done);
    keep((unsigned long)own);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_barrier_init(&both, NULL, 2);
    pthread_barrier_init(&done, NULL, 2);
    start(&a, lend, NULL);
    start(&b, borrow, NULL);
    finish(a);
    finish(b);
    return 0;
}
