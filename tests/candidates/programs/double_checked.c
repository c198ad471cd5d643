/* SPDX-License-Identifier: Apache-2.0 */
/* Double-checked locking without atomics. */
#include "program.h"

struct single {
    int value;
};

static struct single *instance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE struct single *look(void)
{
    return instance; // RACE: pointer
}

static NOINLINE struct single *make(void)
{
    pthread_mutex_lock(&lock);
    struct single *s = instance; // NORACE
    if (!s) {
        s = malloc(sizeof *s);
        if (!s)
            abort();
        s->value = next(); // RACE: value
        instance = s;      // RACE: pointer
    }
    pthread_mutex_unlock(&lock);
    return s;
}

static void *work(void *arg)
{
    struct single *s = look();
    if (!s)
        s = make();
    keep((unsigned long)s->value); // RACE: value
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
