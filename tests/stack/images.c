/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks through libraries that are loaded and unloaded, told to the runtime and not told, while
 * other threads take stacks.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"
#include "stack/stack.h"
#include "stack/images.h"

typedef void callback(void *arg);
typedef void plugin_function(callback *function, void *arg);

enum { ROUNDS = 200, MAX = 64 };

static plugin_function *find_plugin(void *library)
{
    return (plugin_function *)(uintptr_t)dlsym(library, "plugin_call");
}

static void look(void *arg)
{
    compare_here(arg);
    __asm__ volatile("");
}

static void *load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(EXIT_FAILURE);
    }
    return library;
}

static void use_told(const char *path)
{
    void *library = load(path);
    rt_stack_refresh();
    find_plugin(library)(look, (void *)(uintptr_t) "library, told");
    dlclose(library);
    rt_stack_refresh();
}

/* The runtime still believes that another library is there. */
static void look_anyway(void *arg)
{
    uintptr_t pcs[MAX], plugin = (uintptr_t) * (plugin_function **)arg;
    uint32_t count = rt_stack_here(find_self(), pcs, MAX);
    if (count < 2 || pcs[1] <= plugin || pcs[1] > plugin + 200)
        fail_comparison("library, not told", "its own frame is missing");
}

static void use_untold(const char *told, const char *untold)
{
    void *library = load(told);
    plugin_function *before = find_plugin(library);
    rt_stack_refresh();
    before(look, (void *)(uintptr_t) "library, told");
    dlclose(library);
    library = load(untold);
    plugin_function *plugin = find_plugin(library);
    plugin(look_anyway, &plugin);
    rt_stack_refresh();
    plugin(look, (void *)(uintptr_t) "library, told late");
    dlclose(library);
    rt_stack_refresh();
}

static _Atomic bool is_over;

static void *take_stacks(void *arg)
{
    uintptr_t first[MAX], pcs[MAX];
    uint32_t count = rt_stack_here(NULL, first, MAX);
    long *taken = arg;
    do {
        uint32_t now = rt_stack_here(NULL, pcs, MAX);
        bool same = now == count;
        for (uint32_t i = 1; same && i < count; i++)
            same = pcs[i] == first[i];
        if (!same)
            fail_comparison("stack while images change", "differs from the first");
        ++*taken;
    } while (!atomic_load(&is_over));
    return NULL;
}

static void *refresh_often(void *arg)
{
    (void)arg;
    while (!atomic_load(&is_over))
        rt_stack_refresh();
    return NULL;
}

int main(int count, char **libraries)
{
    pthread_t threads[2];
    long taken = 0;
    if (count != 3)
        return EXIT_FAILURE;
    rt_stack_refresh();
    use_told(libraries[1]);
    use_told(libraries[2]);
    pthread_create(&threads[0], NULL, take_stacks, &taken);
    pthread_create(&threads[1], NULL, refresh_often, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        use_told(libraries[1 + i % 2]);
        use_untold(libraries[1 + i % 2], libraries[2 - i % 2]);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (atomic_load(&rt_stack_lists) != 2)
        fail_comparison("lists", "more than the two that are needed");
    printf("%ld stacks taken meanwhile\n", taken);
    return finish_comparisons(ROUNDS * 4);
}
