/* SPDX-License-Identifier: Apache-2.0 */
/* An error-checking mutex orders the accesses; a second lock and a foreign unlock are refused
 * and change nothing. ThreadSanitizer is wrong here: it complains of the unlock that is refused. */
#include "../program.h"
#include <errno.h>

enum { ROUNDS = 50 };

static pthread_mutex_t locks[2];
static long counter;

static void *count(void *arg)
{
    pthread_mutex_t *lock = &locks[unforeseen(1)];
    for (int i = 0; i < ROUNDS; i++) {
        must(pthread_mutex_unlock(lock) == EPERM);
        must(pthread_mutex_lock(lock) == 0);
        counter++;
        must(pthread_mutex_lock(lock) == EDEADLK);
        counter++;
        must(pthread_mutex_unlock(lock) == 0);
    }
    return arg;
}

int main(void)
{
    pthread_mutex_t *lock = &locks[unforeseen(1)];
    pthread_t a, b;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(lock, &attributes);
    start(&a, count, NULL);
    start(&b, count, NULL);
    finish(a);
    finish(b);
    must(counter == 4 * ROUNDS);
    return 0;
}
// TSAN: wrong, it complains of the unlock that is refused
