/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the real functions in a dynamic executable: see real.h. A static one needs nothing. */
#include "intercept/real.h"

#ifndef RT_STATIC

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>

static bool has_segment_at(const struct dl_phdr_info *image, uintptr_t address)
{
    for (int i = 0; i < image->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &image->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && address - (image->dlpi_addr + p->p_vaddr) < p->p_memsz)
            return true;
    }
    return false;
}

/* Two definitions of one function. */
struct found {
    void *versioned, *plain, *first;
};

/* Images come in the order in which the loader searches them. */
static int choose_first(struct dl_phdr_info *image, size_t size, void *arg)
{
    (void)size;
    struct found *f = arg;
    if (has_segment_at(image, (uintptr_t)f->versioned))
        f->first = f->versioned;
    else if (has_segment_at(image, (uintptr_t)f->plain))
        f->first = f->plain;
    return f->first != NULL;
}

/* A program's own reference to a version is met by that version or by a library without versions,
 * whichever comes first; dlvsym and dlsym find only one kind each. */
void *rt_real_find(const char *name, const char *version)
{
    struct found f = {.versioned = version ? dlvsym(RTLD_NEXT, name, version) : NULL};
    f.plain = dlsym(RTLD_NEXT, name);
    if (!f.versioned || !f.plain)
        dlerror();
    if (f.versioned && f.plain && f.versioned != f.plain)
        dl_iterate_phdr(choose_first, &f);
    if (f.first)
        return f.first;
    return f.versioned ? f.versioned : f.plain;
}

struct image_search {
    uintptr_t address;
    const void *found;
};

static int match_image(struct dl_phdr_info *image, size_t size, void *arg)
{
    (void)size;
    struct image_search *search = arg;
    if (has_segment_at(image, search->address))
        search->found = image->dlpi_phdr;
    return search->found != NULL;
}

/* Not dladdr, which also looks for the symbol, among all of libc's. */
const void *rt_real_image(const void *function)
{
    struct image_search search = {.address = (uintptr_t)function};
    dl_iterate_phdr(match_image, &search);
    return search.found;
}

/* `missing` when no library of the program has it. Several threads may do so at once: all store the
 * same pointer. */
static void find(void *slot, const char *name, const char *version, void *missing)
{
    void *found = rt_real_find(name, version);
    __atomic_store_n((void **)slot, found ? found : missing, __ATOMIC_RELAXED);
}

/* Inside dlsym, which may free the text of an error, while it looks up the heap's own functions. */
static _Thread_local bool in_heap_lookup __attribute__((tls_model("initial-exec")));

static void find_heap(void *slot, const char *name, void *missing)
{
    if (in_heap_lookup)
        return;
    in_heap_lookup = true;
    find(slot, name, RT_HEAP_VERSION, missing);
    in_heap_lookup = false;
}

void rt_free_nothing(void *block)
{
    (void)block;
}

void *rt_realloc_nothing(void *block, size_t size)
{
    (void)block, (void)size;
    errno = ENOMEM;
    return NULL;
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
#define RT_LIBC_ROW(result, name, parameters, arguments, failure)                                  \
    static result fail_##name parameters                                                           \
    {                                                                                              \
        errno = ENOSYS;                                                                            \
        return failure;                                                                            \
    }                                                                                              \
    static result find_##name parameters                                                           \
    {                                                                                              \
        find(&rt_real.name, #name, NULL, (void *)fail_##name);                                     \
        return rt_real.name arguments;                                                             \
    }
#define RT_MORE_ROW(result, name, parameters, last, arguments)                                     \
    static result fail_##name parameters                                                           \
    {                                                                                              \
        errno = ENOSYS;                                                                            \
        return (result)-1;                                                                         \
    }                                                                                              \
    static result find_##name parameters                                                           \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, last);                                                                      \
        void *more = va_arg(list, void *), *again = va_arg(list, void *);                          \
        (void)again;                                                                               \
        va_end(list);                                                                              \
        find(&rt_real.name, #name, NULL, (void *)fail_##name);                                     \
        return rt_real.name arguments;                                                             \
    }
#define RT_HEAP_ROW(result, name, parameters, arguments, missing)                                  \
    static result find_##name parameters                                                           \
    {                                                                                              \
        find_heap(&rt_real.name, #name, (void *)missing);                                          \
        return rt_real.name == find_##name ? missing arguments : rt_real.name arguments;           \
    }
#define RT_GUARD_ROW(result, name, parameters, arguments, missing)                                 \
    static result find_##name parameters                                                           \
    {                                                                                              \
        find(&rt_real.name, #name, NULL, (void *)missing);                                         \
        return rt_real.name arguments;                                                             \
    }
#include "intercept/real.def"
#pragma GCC diagnostic pop

struct rt_reals rt_real = {
#define RT_REAL_ROW(result, name, parameters, arguments, version) .name = find_##name,
#define RT_LIBC_ROW(result, name, parameters, arguments, failure) .name = find_##name,
#define RT_MORE_ROW(result, name, parameters, last, arguments)    .name = find_##name,
#define RT_HEAP_ROW                                               RT_REAL_ROW
#define RT_GUARD_ROW                                              RT_REAL_ROW
#include "intercept/real.def"
};

static void find_all(void)
{
#define RT_REAL_ROW(result, name, parameters, arguments, version)                                  \
    find(&rt_real.name, #name, version, (void *)fail_##name);
#define RT_LIBC_ROW(result, name, parameters, arguments, failure)                                  \
    find(&rt_real.name, #name, NULL, (void *)fail_##name);
#define RT_MORE_ROW(result, name, parameters, last, arguments)                                     \
    find(&rt_real.name, #name, NULL, (void *)fail_##name);
#define RT_HEAP_ROW(result, name, parameters, arguments, missing)                                  \
    find_heap(&rt_real.name, #name, (void *)missing);
#define RT_GUARD_ROW(result, name, parameters, arguments, missing)                                 \
    find(&rt_real.name, #name, NULL, (void *)missing);
#include "intercept/real.def"
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) = find_all;

#endif
