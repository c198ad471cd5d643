/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls from libraries arrive: from one that is linked, from its constructor, and from one that is
 * loaded later (named by the first argument), through libstdc++ too.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "harness.h"

void *seen_mutex(void);
int seen_lock(void);
void seen_run(void (*function)(void));

static uint32_t id_in_library;

static void note_id(void)
{
    id_in_library = harness_is_on() ? rt_thread_self()->id : 0;
    CHECK(!harness_is_on() || (!rt_thread_self()->adopted && rt_thread_self()->parent == 1));
}

static void check(void *mutex, int (*lock)(void), void (*run)(void (*)(void)))
{
    harness_forget();
    CHECK(lock() == 1);
    EXPECT({RT_SYNC_MUTEX_LOCK, mutex}, {RT_SYNC_MUTEX_UNLOCK, mutex});
    run(note_id);
    const volatile void *object = rt_thread_object(id_in_library);
    EXPECT({RT_SYNC_THREAD_CREATE, object}, {RT_SYNC_THREAD_JOIN, object});
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    CHECK(!harness_is_exact() || harness_count(RT_SYNC_THREAD_JOIN) == 1);
    check(seen_mutex(), seen_lock, seen_run);
    void *plug_in = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    CHECK(plug_in);
    void *(*get_mutex)(void) = (void *(*)(void))dlsym(plug_in, "seen_mutex");
    int (*lock)(void) = (int (*)(void))dlsym(plug_in, "seen_lock");
    void (*run)(void (*)(void)) = (void (*)(void (*)(void)))dlsym(plug_in, "seen_run");
    CHECK(get_mutex && lock && run && get_mutex() != seen_mutex());
    check(get_mutex(), lock, run);
    CHECK(dlclose(plug_in) == 0);
    return 0;
}
