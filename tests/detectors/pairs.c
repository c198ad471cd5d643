/* SPDX-License-Identifier: Apache-2.0 */
/* A detector without tasks: reports whoever accesses what another thread accessed last. The program
 * it is tried on has no synchronisation but the end of its threads. */
#include "detect.h"
#include "evidence/findings.h"
#include "lock.h"
#include "text.h"

/* Of a thread: what it accessed last, as a check that its state is its own and begins with zeros.
 */
struct pairs_state {
    struct rt_witness last;
};

static struct rt_lock lock;
static struct rt_witness latest;
static _Atomic bool is_mixed_up;

static bool pairs_start(void)
{
    return true;
}

static void pairs_access(struct rt_thread *self, const struct rt_access *a)
{
    struct pairs_state *state = self->detector;
    if (state->last.thread && state->last.thread != self->id)
        atomic_store(&is_mixed_up, true);
    rt_witness_take(self, a, &state->last);
    if (!rt_trylock(&lock))
        return;
    const struct rt_finding f = {
        .proof = RH_PROOF_COLLISION, .first = &latest, .second = &state->last};
    if (latest.thread && latest.thread != self->id &&
        rt_overlaps(latest.address, latest.size, a->address, a->size))
        rt_finding_report(&f);
    rt_witness_copy(&latest, &state->last);
    rt_unlock(&lock);
}

static void pairs_after(struct rt_thread *self, const struct rt_access *a)
{
    (void)self;
    (void)a;
}

static void pairs_finish(void)
{
    if (atomic_load(&is_mixed_up))
        rt_say("pairs: a thread began with the state of another");
}

const struct rt_detector rt_detector_pairs = {
    .thread_size = sizeof(struct pairs_state),
    .start = pairs_start,
    .access = pairs_access,
    .after = pairs_after,
    .finish = pairs_finish,
};
