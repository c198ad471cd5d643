/* SPDX-License-Identifier: Apache-2.0 */
/* Double-checked locking with a plain pointer: the test outside the lock races with the store
 * inside, and the object with its first use. */
#include "../program.h"

struct config {
    int level;
};

static struct config *config;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stage;

static NOINLINE struct config *peek(void)
{
    return config; // RACE: pointer
}

static NOINLINE void make(void)
{
    pthread_mutex_lock(&lock);
    if (!config) { // NORACE
        struct config *made = malloc(sizeof *made);
        must(made != NULL);
        made->level = next(); // RACE: content
        config = made;        // RACE: pointer
    }
    pthread_mutex_unlock(&lock);
}

static void *first(void *arg)
{
    make();
    tell(&stage, 1);
    return arg;
}

static void *second(void *arg)
{
    await(&stage, 1);
    struct config *seen = peek();
    if (!seen)
        make();
    else
        keep((unsigned long)seen->level); // RACE: content
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, first, NULL);
    start(&b, second, NULL);
    finish(a);
    finish(b);
    free(config); // NORACE
    return 0;
}
// APART
