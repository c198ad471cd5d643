/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex taken by trylock orders the accesses, as one taken by lock does; a trylock that fails is
 * followed by no access. */
#include "../program.h"
#include <sched.h>

enum { ROUNDS = 50 };

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static long counter;

static void *try_to_count(void *arg)
{
    pthread_mutex_t *lock = &locks[unforeseen(1)];
    for (int done = 0; done < ROUNDS;) {
        if (pthread_mutex_trylock(lock)) {
            sched_yield();
            continue;
        }
        counter++;
        done++;
        pthread_mutex_unlock(lock);
    }
    return arg;
}

static void *count(void *arg)
{
    pthread_mutex_t *lock = &locks[unforeseen(1)];
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(lock);
        counter++;
        pthread_mutex_unlock(lock);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    start(&a, try_to_count, NULL);
    start(&b, try_to_count, NULL);
    start(&c, count, NULL);
    finish(a);
    finish(b);
    finish(c);
    must(counter == 3 * ROUNDS);
    return 0;
}
