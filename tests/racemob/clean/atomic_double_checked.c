/* SPDX-License-Identifier: Apache-2.0 */
/* Double-checked locking done right: the pointer is stored with release under the lock and loaded
 * with acquire outside it. */
#include "../program.h"
#include <stdatomic.h>

enum { THREADS = 3 };

struct config {
    int level;
};

static _Atomic(struct config *) config;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stage;

static NOINLINE struct config *get(void)
{
    struct config *c = atomic_load_explicit(&config, memory_order_acquire);
    if (c)
        return c;
    pthread_mutex_lock(&lock);
    c = atomic_load_explicit(&config, memory_order_relaxed);
    if (!c) {
        c = malloc(sizeof *c);
        must(c != NULL);
        c->level = 3;
        atomic_store_explicit(&config, c, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return c;
}

static void *use(void *arg)
{
    if (arg)
        await(&stage, 1);
    must(get()->level == 3);
    tell(&stage, 1);
    return arg;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        start(&threads[i], use, i ? &stage : NULL);
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    free(config);
    return 0;
}
