/* SPDX-License-Identifier: Apache-2.0 */
/* A lock that moves: the data is guarded first by one mutex, then, after a thread has held both, by
 * another; each access is ordered by a chain through both locks. */
#include "../program.h"

static pthread_mutex_t old_lock = PTHREAD_MUTEX_INITIALIZER, new_lock = PTHREAD_MUTEX_INITIALIZER;
static long data;
static int moved;

static void *use(void *arg)
{
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&old_lock);
        if (moved) {
            pthread_mutex_lock(&new_lock);
            pthread_mutex_unlock(&old_lock);
            data += 1;
            pthread_mutex_unlock(&new_lock);
        } else {
            data += 1;
            pthread_mutex_unlock(&old_lock);
        }
        nap(100);
    }
    return arg;
}

static void *move(void *arg)
{
    nap(500);
    pthread_mutex_lock(&old_lock);
    pthread_mutex_lock(&new_lock);
    data += 100;
    moved = 1;
    pthread_mutex_unlock(&new_lock);
    pthread_mutex_unlock(&old_lock);
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    start(&a, use, NULL);
    start(&b, use, NULL);
    start(&c, move, NULL);
    finish(a);
    finish(b);
    finish(c);
    must(data == 120);
    return 0;
}
