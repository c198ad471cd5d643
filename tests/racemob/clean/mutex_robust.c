/* SPDX-License-Identifier: Apache-2.0 */
/* A thread ends while it holds a robust mutex; the kernel gives the lock up in its name, and the
 * next owner, told by EOWNERDEAD, comes after everything the dead one did. ThreadSanitizer is
 * wrong here: it does not see the kernel give the lock up. */
#include "../program.h"
#include <errno.h>

static pthread_mutex_t locks[2];
static long account;
static int stage;

static void *die(void *arg)
{
    pthread_mutex_t *lock = &locks[unforeseen(1)];
    pthread_mutex_lock(lock);
    tell(&stage, 1);
    account = 7;
    return arg;
}

static void *inherit(void *arg)
{
    pthread_mutex_t *lock = &locks[unforeseen(1)];
    await(&stage, 1);
    must(pthread_mutex_lock(lock) == EOWNERDEAD);
    account *= 2;
    must(pthread_mutex_consistent(lock) == 0);
    pthread_mutex_unlock(lock);
    return arg;
}

int main(void)
{
    pthread_mutex_t *lock = &locks[unforeseen(1)];
    pthread_t a, b;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(lock, &attributes);
    start(&a, die, NULL);
    start(&b, inherit, NULL);
    finish(b);
    pthread_mutex_lock(lock);
    must(account == 14);
    pthread_mutex_unlock(lock);
    finish(a);
    return 0;
}
// TSAN: wrong, it does not see the kernel give the lock up
