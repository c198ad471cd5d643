/* SPDX-License-Identifier: Apache-2.0 */
/* What the wrappers of pthread_once and of call_once share. */
#ifndef RH_RUNTIME_INTERCEPT_ONCE_H
#define RH_RUNTIME_INTERCEPT_ONCE_H

#include "rt.h"

/* One call under way, in the caller's frame. */
struct rt_once {
    void *control;
    void (*function)(void);
    struct rt_once *outer;
};

/* glibc sets this bit of a control when the function has returned, and never takes it back. */
static inline bool rt_once_is_done(const int *control)
{
    enum { DONE = 2 };
    return __atomic_load_n(control, __ATOMIC_RELAXED) & DONE;
}

RT_HIDDEN void rt_once_begin(struct rt_once *once, void *control, void (*function)(void));
/* What the real function is given to run. */
RT_HIDDEN void rt_once_run(void);
RT_HIDDEN void rt_once_end(const struct rt_once *once);

#endif
