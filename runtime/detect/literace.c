/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The detector `literace`: fasttrack on a sample of the calls. Of each function, each thread's
 * first calls are watched, and then fewer and fewer bursts of calls (sampling/bursts.h): races tend
 * to be where code runs seldom. All synchronisation is followed, so no race is made up. After
 * Marino, Musuvathi and Narayanasamy, "LiteRace" (PLDI 2009).
 */
#include "detect.h"
#include "sampling/bursts.h"
#include "sampling/threads.h"

static void enter(struct rt_sampled *self, uint32_t function)
{
    int32_t *note = &self->notes[rh_sampled_index(function)];
    _Atomic int32_t *left = &self->shared.left[rh_sampled_index(function)];
    atomic_store_explicit(left, rt_burst_next(note), memory_order_relaxed);
    atomic_store_explicit(&self->shared.watched, function, memory_order_relaxed);
}

static void literace_hook(struct rh_image *image, struct rh_hook_frame *frame)
{
    const struct rh_key_record *key = &image->keys[frame->key];
    if (key->kind != RH_KEY_GATE)
        rt_detector_fasttrack.hook(image, frame);
    else if (__rh_sampled)
        enter(__rh_sampled, image->function_base + key->first_site);
}

static bool literace_start(void)
{
    return rt_detector_fasttrack.start();
}

static void literace_thread_begin(struct rt_thread *self)
{
    rt_detector_fasttrack.thread_begin(self);
    rt_sampled_begin(self->id, false);
}

static void literace_thread_end(struct rt_thread *gone)
{
    if (rt_detector_fasttrack.thread_end)
        rt_detector_fasttrack.thread_end(gone);
    rt_sampled_end(gone->id);
}

static void literace_after_fork(struct rt_thread *self)
{
    rt_detector_fasttrack.after_fork(self);
    rt_sampled_after_fork();
}

const struct rt_detector rt_detector_literace = {
    .sampled = &rt_detector_fasttrack,
    .start = literace_start,
    .hook = literace_hook,
    .thread_begin = literace_thread_begin,
    .thread_end = literace_thread_end,
    .after_fork = literace_after_fork,
    .functions = rt_sampled_image,
};
