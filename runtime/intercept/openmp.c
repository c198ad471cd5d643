/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that an instrumented program calls in place of those of OpenMP's library that
 * racehive/openmp.h lists: each calls the library's and tells of the order that comes of it.
 *
 * They are not wrappers like the others: a program without OpenMP must not seem to have it, and a
 * library that is loaded later may bring another OpenMP, which must not find these.
 */
#ifndef RT_STATIC

#include "intercept/openmp.h"

#include <dlfcn.h>

#include "opaque.h"
#include "racehive/openmp.h"
#include "sync.h"

/* --- the library's own --- */

typedef void any_function(void);

static struct {
#define SLOT(name) _Atomic(any_function *) name;
    RH_OPENMP_FOLLOWED(SLOT)
#undef SLOT
} reals;

static any_function *find(_Atomic(any_function *) *slot, const char *name)
{
    any_function *found = atomic_load_explicit(slot, memory_order_relaxed);
    if (rt_unlikely(!found)) {
        found = (any_function *)dlsym(RTLD_DEFAULT, name);
        atomic_store_explicit(slot, found, memory_order_relaxed);
    }
    return found;
}

/* Declares what stands in for a function of the library's, which it reaches as `real`. */
#define STAND_IN(result, name, parameters)                                                         \
    typedef result type_of_##name parameters;                                                      \
    RT_EXPORT result __rh_openmp_##name parameters;                                                \
    result __rh_openmp_##name parameters
#define REAL(name) ((type_of_##name *)find(&reals.name, #name))

/* Orders that the program has no object for: one for all. They are far enough apart to be told
 * from each other. */
static const struct {
    uint64_t ordered[2], atomic[2], doacross[2], flush[2];
} objects;

/* --- locks --- */

STAND_IN(void, __kmpc_critical, (void *where, int thread, void *lock))
{
    REAL(__kmpc_critical)(where, thread, lock);
    rt_sync(RT_SYNC_MUTEX_LOCK, lock);
}

STAND_IN(void, __kmpc_critical_with_hint, (void *where, int thread, void *lock, uint32_t hint))
{
    REAL(__kmpc_critical_with_hint)(where, thread, lock, hint);
    rt_sync(RT_SYNC_MUTEX_LOCK, lock);
}

STAND_IN(void, __kmpc_end_critical, (void *where, int thread, void *lock))
{
    rt_sync(RT_SYNC_MUTEX_UNLOCK, lock);
    REAL(__kmpc_end_critical)(where, thread, lock);
}

STAND_IN(void, omp_set_lock, (void *lock))
{
    REAL(omp_set_lock)(lock);
    rt_sync(RT_SYNC_MUTEX_LOCK, lock);
}

STAND_IN(void, omp_unset_lock, (void *lock))
{
    rt_sync(RT_SYNC_MUTEX_UNLOCK, lock);
    REAL(omp_unset_lock)(lock);
}

STAND_IN(int, omp_test_lock, (void *lock))
{
    int taken = REAL(omp_test_lock)(lock);
    if (taken)
        rt_sync(RT_SYNC_MUTEX_LOCK, lock);
    return taken;
}

STAND_IN(void, omp_set_nest_lock, (void *lock))
{
    REAL(omp_set_nest_lock)(lock);
    rt_sync(RT_SYNC_MUTEX_LOCK, lock);
}

STAND_IN(void, omp_unset_nest_lock, (void *lock))
{
    rt_sync(RT_SYNC_MUTEX_UNLOCK, lock);
    REAL(omp_unset_nest_lock)(lock);
}

STAND_IN(int, omp_test_nest_lock, (void *lock))
{
    int depth = REAL(omp_test_nest_lock)(lock);
    if (depth)
        rt_sync(RT_SYNC_MUTEX_LOCK, lock);
    return depth;
}

/* --- sections and iterations that come one after the other --- */

STAND_IN(void, __kmpc_ordered, (void *where, int thread))
{
    REAL(__kmpc_ordered)(where, thread);
    rt_sync(RT_SYNC_MUTEX_LOCK, objects.ordered);
}

STAND_IN(void, __kmpc_end_ordered, (void *where, int thread))
{
    rt_sync(RT_SYNC_MUTEX_UNLOCK, objects.ordered);
    REAL(__kmpc_end_ordered)(where, thread);
}

STAND_IN(void, __kmpc_atomic_start, (void))
{
    REAL(__kmpc_atomic_start)();
    rt_sync(RT_SYNC_MUTEX_LOCK, objects.atomic);
}

STAND_IN(void, __kmpc_atomic_end, (void))
{
    rt_sync(RT_SYNC_MUTEX_UNLOCK, objects.atomic);
    REAL(__kmpc_atomic_end)();
}

STAND_IN(void, __kmpc_doacross_wait, (void *where, int thread, const int64_t *iteration))
{
    REAL(__kmpc_doacross_wait)(where, thread, iteration);
    rt_sync(RT_SYNC_SEM_WAIT, objects.doacross);
}

STAND_IN(void, __kmpc_doacross_post, (void *where, int thread, const int64_t *iteration))
{
    rt_sync(RT_SYNC_SEM_POST, objects.doacross);
    REAL(__kmpc_doacross_post)(where, thread, iteration);
}

/* A fence: what was written before it is there for whoever comes to one later, having read in
 * between what was written behind the first. */
STAND_IN(void, __kmpc_flush, (void *where))
{
    rt_sync(RT_SYNC_ANNOTATED_BEFORE, objects.flush);
    REAL(__kmpc_flush)(where);
    rt_sync(RT_SYNC_ANNOTATED_AFTER, objects.flush);
}

/* --- reductions --- */

/*
 * Each thread brings the addresses of its values. Depending on how many there are, it is told to
 * add them up under the lock (1), with atomics (2), or the library combines them by calling
 * `combine`, thread by thread in a tree, and one is told 1. So all give to the lock before, whoever
 * combines takes before it does, and all take behind.
 */
typedef void combine_function(void *to, void *from);

static _Thread_local struct {
    combine_function *combine;
    const void *lock;
} reduction __attribute__((tls_model("initial-exec")));

static void combine_in_order(void *to, void *from)
{
    rt_sync(RT_SYNC_BARRIER_LEAVE, reduction.lock);
    reduction.combine(to, from);
    rt_sync(RT_SYNC_BARRIER_ARRIVE, reduction.lock);
}

typedef int reduce_function(void *where, int thread, int count, size_t size, void *data,
                            combine_function *combine, void *lock);

/* A thread that waits for others may run a task with a reduction of its own. */
static int reduce(reduce_function *real, void *where, int thread, int count, size_t size,
                  void *data, combine_function *combine, void *lock)
{
    __typeof__(reduction) outer = reduction;
    reduction.combine = combine;
    reduction.lock = lock;
    rt_sync(RT_SYNC_BARRIER_ARRIVE, lock);
    int result = real(where, thread, count, size, data, combine_in_order, lock);
    rt_sync(RT_SYNC_BARRIER_LEAVE, lock);
    reduction = outer;
    return result;
}

STAND_IN(int, __kmpc_reduce,
         (void *where, int thread, int count, size_t size, void *data, combine_function *combine,
          void *lock))
{
    return reduce(REAL(__kmpc_reduce), where, thread, count, size, data, combine, lock);
}

STAND_IN(int, __kmpc_reduce_nowait,
         (void *where, int thread, int count, size_t size, void *data, combine_function *combine,
          void *lock))
{
    return reduce(REAL(__kmpc_reduce_nowait), where, thread, count, size, data, combine, lock);
}

STAND_IN(void, __kmpc_end_reduce, (void *where, int thread, void *lock))
{
    rt_sync(RT_SYNC_BARRIER_ARRIVE, lock);
    REAL(__kmpc_end_reduce)(where, thread, lock);
    rt_sync(RT_SYNC_BARRIER_LEAVE, lock);
}

STAND_IN(void, __kmpc_end_reduce_nowait, (void *where, int thread, void *lock))
{
    rt_sync(RT_SYNC_BARRIER_ARRIVE, lock);
    REAL(__kmpc_end_reduce_nowait)(where, thread, lock);
}

/* --- tasks --- */

/* The library takes blocks of tasks that are done for new ones, without free. What other threads
 * did with those bytes was about something else. */
STAND_IN(void *, __kmpc_omp_task_alloc,
         (void *where, int thread, int flags, size_t size, size_t shared_size, void *entry))
{
    enum { TIED = 1, PROXY = 0x10, DETACHABLE = 0x40, HELPER = 0x80, WORD = 8 };
    if (!(flags & TIED) || (flags & (PROXY | DETACHABLE | HELPER)))
        rt_opaque(RH_OPAQUE_OPENMP);
    void *block = REAL(__kmpc_omp_task_alloc)(where, thread, flags, size, shared_size, entry);
    if (block && atomic_load(&rt_memory_live))
        rt_memory_gone((uintptr_t)block, (size + WORD - 1) / WORD * WORD + shared_size);
    return block;
}

/* The library tells its tool of these waits only if there is something left to wait for. */
STAND_IN(void, __kmpc_omp_wait_deps,
         (void *where, int thread, int count, void *list, int other_count, void *others))
{
    REAL(__kmpc_omp_wait_deps)(where, thread, count, list, other_count, others);
    rt_sync(RT_SYNC_BARRIER_LEAVE, rt_openmp_dependences());
}

STAND_IN(void, __kmpc_omp_taskwait_deps_51,
         (void *where, int thread, int count, void *list, int other_count, void *others,
          int goes_on))
{
    REAL(__kmpc_omp_taskwait_deps_51)(where, thread, count, list, other_count, others, goes_on);
    rt_sync(RT_SYNC_BARRIER_LEAVE, rt_openmp_dependences());
}

#endif
