/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is given back: free, realloc, and what takes mappings away. The allocator's own
 * synchronisation is not seen, so two threads that use a block one after the other would seem to
 * race; the detector is told that the block's history ends here.
 *
 * It is told before the block is given back, because afterwards it may already be another thread's.
 * What is then not given back after all (realloc in place, an unmap that fails) loses its history
 * too: a race may be missed, none is made up.
 *
 * free is called from everywhere: by the loader before anything of ours has run, inside dlsym, in
 * signal handlers of reckless programs, in threads that are ending. While nobody wants to know, a
 * wrapper is one test and a jump, and touches nothing thread-local.
 *
 * Not wrapped: reallocarray, which calls realloc by name; cfree, which no program can be linked
 * with any more; madvise, after which the memory is still the program's; brk and shmdt.
 */
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "budget.h"
#include "intercept/real.h"
#include "opaque.h"
#include "sync.h"

_Atomic uint32_t rt_memory_live;

static inline bool is_live(void)
{
    return rt_unlikely(rt_arch_is_set(&rt_memory_live));
}

void rt_memory_gone(uintptr_t start, size_t size)
{
    const struct rt_detector *detector = rt_detector;
    if (!detector || !detector->gone || !size)
        return;
    struct rt_thread *self = rt_thread_self();
    if (!self)
        return;
    self->in_hook++;
    atomic_signal_fence(memory_order_seq_cst);
    uint64_t began = rt_meter_begin(self);
    detector->gone(self, start, size);
    rt_meter_end(self, rt_meter_of_events(), began);
    atomic_signal_fence(memory_order_seq_cst);
    self->in_hook--;
}

/* --- the heap --- */

/*
 * How large a block is can only be told by the allocator that made it. NULL if we do not know of
 * one: then blocks come from a library (loaded before libc) that does not tell; its own
 * synchronisation is either seen, or the library makes the process opaque.
 */
#ifdef RT_STATIC

/* Weak, or it would bring libc's allocator into a program that has its own. */
extern __typeof__(malloc_usable_size) malloc_usable_size __attribute__((weak));
#define measure malloc_usable_size

#else

static size_t (*measure)(void *);

/* The image that a function of this name is found in, behind us. */
static const void *image_of(const char *name)
{
    return rt_real_image(rt_real_find(name, RT_HEAP_VERSION));
}

/* All three must be of one library: to measure another's block is to read what is not there. What
 * the program defines itself is not looked at. Before any constructor: later, dlsym may have to
 * wait for the loader. */
static void find_measure(void)
{
    static const char name[] = "malloc_usable_size";
    const void *image = image_of(name);
    if (image && image == image_of("free") && image == image_of("realloc"))
        measure = (size_t(*)(void *))rt_real_find(name, RT_HEAP_VERSION);
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) = find_measure;

#endif

__attribute__((noinline)) static void tell_block(void *block)
{
    if (block && measure)
        rt_memory_gone((uintptr_t)block, measure(block));
}

RT_WRAPPER(void, free, (void *p))
{
    if (is_live())
        tell_block(p);
    RT_REAL(free)(p);
}

RT_WRAPPER(void *, realloc, (void *p, size_t n))
{
    if (is_live())
        tell_block(p);
    return RT_REAL(realloc)(p, n);
}

/* --- mappings --- */

/* What a fixed mapping replaces. */
__attribute__((noinline)) static void tell_replaced(const void *start, size_t size, int flags)
{
    if ((flags & MAP_FIXED) && !(flags & MAP_FIXED_NOREPLACE))
        rt_memory_gone((uintptr_t)start, size);
}

/* What other processes write there may order threads of this one: A writes a word for a process
 * that then writes another, on which B has waited. Nobody here sees that. LLVM's OpenMP has a page
 * in which copies of it within one process find each other. */
static void note_shared(int prot, int flags, uintptr_t caller)
{
    if (rt_unlikely((flags & MAP_SHARED) && (prot & PROT_WRITE)) && !rt_opaque_is_openmp(caller))
        rt_opaque(RH_OPAQUE_SHARED);
}

RT_WRAPPER(void *, mmap, (void *a, size_t n, int prot, int flags, int fd, off_t at))
{
    note_shared(prot, flags, RT_CALLER);
    if (is_live())
        tell_replaced(a, n, flags);
    return RT_REAL(mmap)(a, n, prot, flags, fd, at);
}

RT_WRAPPER(void *, mmap64, (void *a, size_t n, int prot, int flags, int fd, off64_t at))
{
    note_shared(prot, flags, RT_CALLER);
    if (is_live())
        tell_replaced(a, n, flags);
    return RT_REAL(mmap64)(a, n, prot, flags, fd, at);
}

RT_WRAPPER(int, munmap, (void *a, size_t n))
{
    if (is_live())
        rt_memory_gone((uintptr_t)a, n);
    return RT_REAL(munmap)(a, n);
}

/* Where nothing more is given, `to` is what a register happened to hold; libc too looks at it only
 * if the flags say so. */
RT_WRAPPER(void *, mremap, (void *a, size_t old, size_t new, int flags, ...))
{
    va_list list;
    va_start(list, flags);
    void *to = va_arg(list, void *);
    va_end(list);
    if (is_live()) {
        rt_memory_gone((uintptr_t)a, old);
        if (flags & MREMAP_FIXED)
            rt_memory_gone((uintptr_t)to, new);
    }
    return RT_REAL(mremap)(a, old, new, flags, to);
}
