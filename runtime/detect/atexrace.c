/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The detector `atexrace`: fasttrack on a sample of the calls, chosen by which functions run at the
 * same time in two threads. A pair of functions that was never seen is watched on both sides; one
 * that was is watched in bursts, the more seldom the more often it was seen, in this run and in
 * earlier ones (sampling/pairs.h, bursts.h). All synchronisation is followed, so no race is made
 * up. After Guo, Cai and Yang, "AtexRace" (ESEC/FSE 2017).
 *
 * A function runs from its entry until its thread enters another one.
 */
#include "detect.h"
#include "options.h"
#include "sampling/bursts.h"
#include "sampling/threads.h"
#include "shared.h"

/* A call that is about to begin. */
struct call {
    struct rt_sampled *self;
    uint32_t function;
    uint32_t passed; /* calls since the last time, this one included */
    bool is_watched;
    uint32_t gap; /* calls until the next pair of it is watched */
};

/* Its next gate leads to the twin, and its next call asks. */
static void call_over(struct rt_sampled *other, uint32_t function)
{
    atomic_store_explicit(&other->shared.left[rh_sampled_index(function)], 0, memory_order_relaxed);
    atomic_store_explicit(&other->shared.watched, function, memory_order_relaxed);
}

static void look_at(struct rt_sampled *other, uint32_t function, void *arg)
{
    struct call *call = arg;
    struct rt_pair *pair = rt_pairs_find(call->self->map, call->function, function);
    if (!pair)
        return;
    uint32_t count = pair->count;
    bool is_watched = rt_pair_is_watched(count, (uint32_t)rt_options.rate, rt_options.decay);
    uint32_t gap = rt_pair_gap(count, rt_options.decay);
    rt_pairs_add(pair, call->passed);
    if (is_watched) {
        call->is_watched = true;
        call_over(other, function);
    }
    call->gap = gap < call->gap ? gap : call->gap;
}

/* A thread that is alone is not watched: nothing can race with it before another begins. */
static void enter(struct rt_sampled *self, uint32_t function)
{
    uint32_t index = rh_sampled_index(function);
    struct call call = {
        .self = self,
        .function = function,
        .passed = 1 + (uint32_t)self->notes[index],
        .gap = rt_pair_period(0, false),
    };
    rt_sampled_each(self, look_at, &call);
    int32_t left = call.is_watched ? 0 : (int32_t)rt_pair_patience(call.gap);
    self->notes[index] = left;
    atomic_store_explicit(&self->shared.left[index], left, memory_order_relaxed);
    if (call.is_watched)
        atomic_store_explicit(&self->shared.watched, function, memory_order_relaxed);
}

static void atexrace_hook(struct rh_image *image, struct rh_hook_frame *frame)
{
    const struct rh_key_record *key = &image->keys[frame->key];
    struct rt_sampled *self = __rh_sampled;
    if (key->kind != RH_KEY_GATE) {
        rt_detector_fasttrack.hook(image, frame);
    } else if (self && !self->is_busy) {
        self->is_busy = true;
        atomic_signal_fence(memory_order_seq_cst);
        enter(self, image->function_base + key->first_site);
        atomic_signal_fence(memory_order_seq_cst);
        self->is_busy = false;
    }
}

static bool atexrace_start(void)
{
    return rt_shared() && rt_pairs_start(&rt_shared()->pairs) && rt_detector_fasttrack.start();
}

static void atexrace_thread_begin(struct rt_thread *self)
{
    rt_detector_fasttrack.thread_begin(self);
    rt_sampled_begin(self->id, true);
}

static void atexrace_thread_end(struct rt_thread *gone)
{
    if (rt_detector_fasttrack.thread_end)
        rt_detector_fasttrack.thread_end(gone);
    rt_sampled_end(gone->id);
}

static void atexrace_after_fork(struct rt_thread *self)
{
    rt_detector_fasttrack.after_fork(self);
    rt_sampled_after_fork();
}

static void atexrace_finish(void)
{
    rt_sampled_tell();
    rt_detector_fasttrack.finish();
}

const struct rt_detector rt_detector_atexrace = {
    .sampled = &rt_detector_fasttrack,
    .start = atexrace_start,
    .hook = atexrace_hook,
    .thread_begin = atexrace_thread_begin,
    .thread_end = atexrace_thread_end,
    .after_fork = atexrace_after_fork,
    .functions = rt_sampled_image,
    .finish = atexrace_finish,
};
