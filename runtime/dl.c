/*
 * Libraries that are unloaded: the list of images that stacks are walked with must not go on naming
 * their code. Only dynamic executables have this: the wrapper finds the real function when it is
 * called, which is seldom.
 */
#ifndef RT_STATIC

#include <dlfcn.h>

#include "rt.h"
#include "stack.h"

RT_EXPORT __attribute__((weak)) int dlclose(void *library);

int dlclose(void *library)
{
    int (*real)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
    int result = real ? real(library) : -1;
    if (atomic_load(&rt_mode) == RT_MODE_LIVE)
        rt_stack_refresh();
    return result;
}

#endif
