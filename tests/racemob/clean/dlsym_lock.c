/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a lock are looked up in the C library by name, so that calls of them go past
 * the runtime. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "../program.h"

enum { STEPS = 2000 };

static int (*lock)(pthread_mutex_t *), (*unlock)(pthread_mutex_t *);
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static long sum;

static void *work(void *arg)
{
    for (int i = 0; i < STEPS; i++) {
        must(lock(&guard) == 0);
        sum += next();
        must(unlock(&guard) == 0);
    }
    return arg;
}

int main(void)
{
    void *library = dlopen("libc.so.6", RTLD_NOW);
    must(library != NULL);
    lock = (int (*)(pthread_mutex_t *))dlsym(library, "pthread_mutex_lock");
    unlock = (int (*)(pthread_mutex_t *))dlsym(library, "pthread_mutex_unlock");
    must(lock && unlock);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        start(&threads[i], work, NULL);
    for (int i = 0; i < 2; i++)
        finish(threads[i]);
    must(sum != 0);
    return 0;
}
