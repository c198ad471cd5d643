/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries that are loaded and unloaded while the program runs.
 *
 * One that is unloaded must not stay in the list of images that stacks are walked with, and its
 * variables are memory that is given back. One that is loaded may synchronise unseen. Only dynamic
 * executables have this: the wrappers find the real functions when they are called, which is
 * seldom.
 */
#ifndef RT_STATIC

#include <dlfcn.h>
#include <link.h>

#include "intercept/dl.h"
#include "intercept/real.h"
#include "keys.h"
#include "opaque.h"
#include "stack/stack.h"
#include "sync.h"

/* --- loading --- */

static void *fail_to_load(void)
{
    return NULL;
}

/* A library that looks for functions in itself and what it needs first calls libc's, not ours. */
static void check_flags(int flags)
{
    if (flags & RTLD_DEEPBIND)
        rt_opaque(RH_OPAQUE_APART);
}

/*
 * dlopen goes by its return address: it searches the paths of the library that calls it. So the
 * wrapper must not call it but go on to it with the caller's stack (arch/); this is what it does
 * before, and where it goes on.
 */
void *rt_dl_opening(const char *path, int flags)
{
    void *real = rt_real_find("dlopen", NULL);
    rt_opaque_loading(path);
    check_flags(flags);
    /* What the library's constructors did in another thread is known to whoever opens it again: see
     * glue.c. */
    rt_sync(RT_SYNC_ANNOTATED_AFTER, (const void *)__rh_image_register);
    return real ? real : (void *)fail_to_load;
}

/* Another namespace has a libc of its own, which we do not wrap. */
void *rt_dl_opening_apart(Lmid_t space, const char *path, int flags)
{
    void *real = rt_real_find("dlmopen", NULL);
    if (space == LM_ID_BASE)
        rt_opaque_loading(path);
    else
        rt_opaque(RH_OPAQUE_APART);
    check_flags(flags);
    return real ? real : (void *)fail_to_load;
}

/* --- unloading --- */

static int tell_image(struct dl_phdr_info *image, size_t size, void *arg)
{
    (void)size;
    const struct link_map *library = arg;
    if (image->dlpi_addr != library->l_addr)
        return 0;
    for (int i = 0; i < image->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &image->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_W))
            rt_memory_gone(image->dlpi_addr + p->p_vaddr, p->p_memsz);
    }
    return 1;
}

/* Whether it will be unloaded, only libc knows. What goes with it, it does not tell. */
static void tell_variables(void *library)
{
    struct link_map *map;
    if (library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
        dl_iterate_phdr(tell_image, map);
}

RT_EXPORT __attribute__((weak)) int dlclose(void *library);

int dlclose(void *library)
{
    int (*real)(void *) = (int (*)(void *))rt_real_find("dlclose", NULL);
    if (atomic_load(&rt_memory_live))
        tell_variables(library);
    int result = real ? real(library) : -1;
    if (atomic_load(&rt_mode) == RT_MODE_LIVE)
        rt_stack_refresh();
    return result;
}

#endif
