/* SPDX-License-Identifier: Apache-2.0 */
/* A pthread spin lock, also by trylock, orders the accesses. */
#include "../program.h"
#include <sched.h>

enum { ROUNDS = 50 };

static pthread_spinlock_t locks[2];
static long counter;

static void *count(void *arg)
{
    pthread_spinlock_t *lock = &locks[unforeseen(1)];
    for (int i = 0; i < ROUNDS; i++) {
        pthread_spin_lock(lock);
        counter++;
        pthread_spin_unlock(lock);
    }
    return arg;
}

static void *try_to_count(void *arg)
{
    pthread_spinlock_t *lock = &locks[unforeseen(1)];
    for (int i = 0; i < ROUNDS; i++) {
        while (pthread_spin_trylock(lock))
            sched_yield();
        counter++;
        pthread_spin_unlock(lock);
    }
    return arg;
}

int main(void)
{
    pthread_spinlock_t *lock = &locks[unforeseen(1)];
    pthread_t a, b;
    pthread_spin_init(lock, PTHREAD_PROCESS_PRIVATE);
    start(&a, count, NULL);
    start(&b, try_to_count, NULL);
    finish(a);
    finish(b);
    must(counter == 2 * ROUNDS);
    pthread_spin_destroy(lock);
    return 0;
}
