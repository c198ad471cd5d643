/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a library from two threads: one that is linked, or, if its path is given, a plugin that is
 * loaded, unloaded and loaded again; with a second argument, one that looks for functions in itself
 * and what it needs first. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#ifdef LINKED
void library_visit(void);
#endif

static void (*visit)(void);

static void *work(void *arg)
{
    struct timespec nap = {.tv_nsec = 50000};
    for (int i = 0; i < 100; i++) {
        visit();
        nanosleep(&nap, NULL);
    }
    return arg;
}

static void run(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            abort();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void run_plugin(const char *path, int more)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL | more);
    if (!plugin)
        abort();
    visit = (void (*)(void))dlsym(plugin, "library_visit");
    run();
    dlclose(plugin);
}

int main(int argc, char **argv)
{
#ifdef LINKED
    visit = library_visit;
    run();
#endif
    for (int i = 0; argc > 1 && i < 3; i++)
        run_plugin(argv[1], argc > 2 ? RTLD_DEEPBIND : 0);
    return 0;
}
