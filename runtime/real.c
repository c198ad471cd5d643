/* Finding the real functions in a dynamic executable: see real.h. A static one needs nothing. */
#include "real.h"

#ifndef RT_STATIC

#include <dlfcn.h>
#include <errno.h>

/* Looks a function up behind us; `missing` when no library of the program has it. Several threads
 * may do so at once: all store the same pointer. */
static void find(void *slot, const char *name, const char *version, void *missing)
{
    void *found = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
    if (!found)
        found = dlsym(RTLD_NEXT, name);
    if (!found)
        dlerror(); /* or the program would find an error that is not its own */
    __atomic_store_n((void **)slot, found ? found : missing, __ATOMIC_RELAXED);
}

/* For each function: one that fails, for an old libc without it, and the pointer's first value,
 * which finds its own function and calls it. Only its own: a function called by the program's
 * malloc while we look up another must not look up that other one again. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define RT_REAL_ROW(result, name, parameters, arguments, version)                                  \
    static result fail_##name parameters                                                           \
    {                                                                                              \
        return (result)ENOSYS;                                                                     \
    }                                                                                              \
    static result find_##name parameters                                                           \
    {                                                                                              \
        find(&rt_real.name, #name, version, (void *)fail_##name);                                  \
        return rt_real.name arguments;                                                             \
    }
#define RT_GUARD_ROW(result, name, parameters, arguments, missing)                                 \
    static result find_##name parameters                                                           \
    {                                                                                              \
        find(&rt_real.name, #name, NULL, (void *)missing);                                         \
        return rt_real.name arguments;                                                             \
    }
#include "real.def"
#pragma GCC diagnostic pop

struct rt_reals rt_real = {
#define RT_REAL_ROW(result, name, parameters, arguments, version) .name = find_##name,
#define RT_GUARD_ROW                                              RT_REAL_ROW
#include "real.def"
};

static void find_all(void)
{
#define RT_REAL_ROW(result, name, parameters, arguments, version)                                  \
    find(&rt_real.name, #name, version, (void *)fail_##name);
#define RT_GUARD_ROW(result, name, parameters, arguments, missing)                                 \
    find(&rt_real.name, #name, NULL, (void *)missing);
#include "real.def"
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) = find_all;

#endif
