/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads work on common memory in different images. Arguments: the plugins. With one, the
 * other thread runs code of the program's own; with two, each thread has one of them. All is done
 * three times, and the plugins are unloaded in between, the first one first in turn, so that they
 * come to lie at each other's addresses.
 */
#include "shared.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

typedef void work(struct shared *);

static struct shared *memory;

static void own_work(struct shared *s)
{
    shared_add(s);
#ifdef RACY
    s->bare++; // RACE
#else
    pthread_mutex_lock(&s->lock);
    s->bare++;
    pthread_mutex_unlock(&s->lock);
#endif
}

static void *run(void *arg)
{
    struct timespec nap = {.tv_nsec = 50000};
    work *function = *(work **)arg;
    for (int i = 0; i < 100; i++) {
        function(memory);
        nanosleep(&nap, NULL);
    }
    return NULL;
}

static void *load(const char *path, work **function)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!plugin)
        abort();
    *function = (work *)dlsym(plugin, "plugin_work");
    return plugin;
}

static void run_both(work *first, work *second)
{
    work *functions[2] = {first, second};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, run, &functions[i]))
            abort();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    memory = calloc(1, sizeof *memory);
    pthread_mutex_init(&memory->lock, NULL);
    for (int i = 0; argc > 1 && i < 3; i++) {
        work *first, *second = own_work;
        int at = argc > 2 && i % 2 ? 2 : 1;
        void *plugin = load(argv[at], &first);
        void *other = argc > 2 ? load(argv[3 - at], &second) : NULL;
        run_both(first, second);
        dlclose(plugin);
        if (other)
            dlclose(other);
    }
    free(memory);
    return 0;
}
