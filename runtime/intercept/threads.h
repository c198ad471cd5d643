/* SPDX-License-Identifier: Apache-2.0 */
/* What the wrappers of pthread_create and of thrd_create share. */
#ifndef RH_RUNTIME_INTERCEPT_THREADS_H
#define RH_RUNTIME_INTERCEPT_THREADS_H

#include "thread.h"

/* First in a new thread. */
RT_HIDDEN void rt_thread_enter(struct rt_thread *self);
/* Of a thread created with these attributes; NULL: the default ones. */
RT_HIDDEN size_t rt_thread_stack_size(const pthread_attr_t *attr);

#endif
