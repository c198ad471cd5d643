/* SPDX-License-Identifier: Apache-2.0 */
/* Static variables of functions are shared by all threads. */
#include "program.h"

static NOINLINE int number_racy(void)
{
    static int last;
    last += next(); // RACE
    return last;
}

static NOINLINE int number_locked(void)
{
    static int last;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    last += next();    // NORACE
    int result = last; // NORACE
    pthread_mutex_unlock(&lock);
    return result;
}

static void *work(void *arg)
{
    keep((unsigned long)(number_racy() + number_locked()));
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, work, NULL);
    start(&b, work, NULL);
    finish(a);
    finish(b);
    return 0;
}
