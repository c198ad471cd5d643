/* SPDX-License-Identifier: Apache-2.0 */
/* A read-write lock: readers see what writers wrote, and a writer comes after all readers. */
#include "../program.h"

enum { ROUNDS = 30 };

static pthread_rwlock_t locks[2] = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER};
static long left, right;

static void *write_both(void *arg)
{
    pthread_rwlock_t *lock = &locks[unforeseen(1)];
    for (int i = 0; i < ROUNDS; i++) {
        pthread_rwlock_wrlock(lock);
        left++;
        right++;
        pthread_rwlock_unlock(lock);
    }
    return arg;
}

static void *read_both(void *arg)
{
    pthread_rwlock_t *lock = &locks[unforeseen(1)];
    for (int i = 0; i < ROUNDS; i++) {
        pthread_rwlock_rdlock(lock);
        must(left == right);
        pthread_rwlock_unlock(lock);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b, c, d;
    start(&a, write_both, NULL);
    start(&b, read_both, NULL);
    start(&c, read_both, NULL);
    start(&d, write_both, NULL);
    finish(a);
    finish(b);
    finish(c);
    finish(d);
    must(left == 2 * ROUNDS);
    return 0;
}
