/* SPDX-License-Identifier: Apache-2.0 */
/* A recursive lock taken twice and released once is still held; released twice it is not. */
#include "program.h"

static int inner, outer, after;
static pthread_mutex_t lock;

static NOINLINE void nested(void)
{
    pthread_mutex_lock(&lock);
    inner += next(); // NORACE
    pthread_mutex_unlock(&lock);
}

static void *count(void *arg)
{
    pthread_mutex_lock(&lock);
    nested();
    outer += next();
    pthread_mutex_unlock(&lock);
    after += next(); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attributes);
    start(&a, count, NULL);
    start(&b, count, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(inner + outer + after));
    return 0;
}
