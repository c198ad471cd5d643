/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime's own thread, which exists only while there is something to do besides the program's
 * own doing: following the control page, or flipping keys at random for a test.
 */
#ifndef RH_RUNTIME_SERVICE_H
#define RH_RUNTIME_SERVICE_H

#include "rt.h"

/* An image has come: the executable, with which the thread starts, or a library, for which there
 * may be tasks. */
struct rt_image;
RT_HIDDEN void rt_service_image(struct rt_image *image);
/* An image is about to be unloaded. */
RT_HIDDEN void rt_service_image_gone(struct rt_image *image);
/* Starts the thread if the options ask for one. Also called in a forked child. */
RT_HIDDEN void rt_service_start(void);
/* Makes a thread that the program does not know of. `stack` keeps its memory for the next time: one
 * is enough, because a forked child has no thread of ours on its copy. Without `shares_files` it
 * has a table of files of its own, a copy. */
RT_HIDDEN bool rt_service_thread(int (*run)(void *), char **stack, bool shares_files);
/* Switches on what the options ask for at the start. */
RT_HIDDEN void rt_service_first_keys(void);

/* Has the thread look at once at what it looks at now and then. Safe in hooks. */
RT_HIDDEN void rt_service_wake(void);

/* Around fork: the child must not find our lock held by a thread it does not have. */
RT_HIDDEN void rt_service_fork_before(void);
RT_HIDDEN void rt_service_fork_after(void);

#endif
