/* SPDX-License-Identifier: Apache-2.0 */
/* Three threads, two locks: one thread holds both, the other two hold one each and have none in
 * common. */
#include "program.h"

static int value;
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void *with_both(void *arg)
{
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
    value = next(); // NORACE
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    return arg;
}

static void *with_left(void *arg)
{
    pthread_mutex_lock(&left);
    value = next(); // RACE
    pthread_mutex_unlock(&left);
    return arg;
}

static void *with_right(void *arg)
{
    pthread_mutex_lock(&right);
    value = next(); // RACE
    pthread_mutex_unlock(&right);
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    start(&a, with_both, NULL);
    start(&b, with_left, NULL);
    start(&c, with_right, NULL);
    finish(a);
    finish(b);
    finish(c);
    keep((unsigned long)value);
    return 0;
}
