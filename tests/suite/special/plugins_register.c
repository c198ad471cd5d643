/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads load plugins whose constructors and destructors write to one table of the program, under
 * the loader's lock alone; then both open one plugin and read what its constructor has made. */
// PLUGIN: plugin_one
// PLUGIN: plugin_two
#define STRING(name)  #name
#define NAME_OF(name) STRING(name)

extern const char *last_loaded;
extern int loads, unloads;

#ifdef PLUGIN

static int made[4];

__attribute__((constructor)) static void load(void)
{
    last_loaded = NAME_OF(PLUGIN);
    loads++;
    for (int i = 0; i < 4; i++)
        made[i] = i + loads;
}

__attribute__((destructor)) static void unload(void)
{
    unloads++;
}

int sum_made(void)
{
    return made[0] + made[1] + made[2] + made[3];
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

enum { ROUNDS = 40 };

const char *last_loaded;
int loads, unloads;

static void *open_plugin(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW);
    if (!plugin)
        abort();
    return plugin;
}

static void *work(void *path)
{
    for (int i = 0; i < ROUNDS; i++)
        dlclose(open_plugin(path));
    void *plugin = open_plugin(FOLDER "/plugin_one.so");
    int (*sum)(void) = (int (*)(void))dlsym(plugin, "sum_made");
    if (!sum || sum() == 0)
        abort();
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, work, FOLDER "/plugin_one.so") ||
        pthread_create(&threads[1], NULL, work, FOLDER "/plugin_two.so"))
        return 1;
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return loads == 0 || unloads > loads || !last_loaded;
}

#endif
