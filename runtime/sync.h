/* SPDX-License-Identifier: Apache-2.0 */
/* What the wrappers share: telling the detector, and what glibc's own fields say about a mutex. */
#ifndef RH_RUNTIME_SYNC_H
#define RH_RUNTIME_SYNC_H

#include <pthread.h>

#include "rt.h"

/* rt_sync_event in the name of another thread, one that is gone. */
RT_HIDDEN void rt_sync_event_as(struct rt_thread *thread, enum rt_sync what,
                                const volatile void *object);

/* Whether the list of locks that a thread holds is of now: it has synchronised since events are
 * live without a break. */
RT_HIDDEN bool rt_sync_knows_held(const struct rt_thread *thread);

/*
 * The slow paths of wrappers, entered while events are live. A wrapper itself does no more than
 * call the real function and test once, so that idle it costs a handful of instructions and, if it
 * only releases, no frame: the object stays in its register.
 *
 * RT_CALLER is where the program called: it must be written in the wrapper itself, and so must the
 * two macros below.
 */
#define RT_CALLER ((uintptr_t)__builtin_return_address(0))
/* Whether anyone wants to know of uses; what goes on below does not need to ask. */
static inline bool rt_sync_wants_uses(void)
{
    const struct rt_detector *detector = rt_detector;
    return detector && detector->use;
}
/* Tells the detector of a use (rt.h) alone. */
RT_HIDDEN void rt_sync_use(const volatile void *object, size_t size, enum rt_sync what,
                           uintptr_t caller);
/* The use of an object, then the event. */
RT_HIDDEN void rt_sync_tell(const volatile void *object, size_t size, enum rt_sync what,
                            uintptr_t caller);
/* After a call that acquires if its result is 0: the use in any case, then the event. */
RT_HIDDEN int rt_sync_tell_result(const volatile void *object, size_t size, enum rt_sync what,
                                  uintptr_t caller, int result);
#define RT_TELL(object, what)                                                                      \
    do {                                                                                           \
        if (rt_sync_is_live())                                                                     \
            rt_sync_tell((object), sizeof *(object), (what), RT_CALLER);                           \
    } while (0)
#define RT_TELL_RESULT(object, what, result)                                                       \
    (rt_sync_is_live()                                                                             \
         ? rt_sync_tell_result((object), sizeof *(object), (what), RT_CALLER, (result))            \
         : (result))

/* The kernel unlocks robust mutexes that a thread has left locked: whoever gets one is told only
 * that its owner died, not who that was. So all threads that end give to one object. */
RT_HIDDEN const volatile void *rt_dead_owners(void);
/* After a mutex has been locked, while events are live. Nested locks of a recursive mutex are no
 * events. */
RT_HIDDEN void rt_mutex_locked(const pthread_mutex_t *mutex);
/* Before a mutex is unlocked, while events are live. False, and no event, if the unlock will not
 * free it: it will fail, or the mutex is recursive and locked more than once. */
RT_HIDDEN bool rt_mutex_unlocking(const pthread_mutex_t *mutex);

#endif
