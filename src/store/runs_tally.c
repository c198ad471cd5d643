/* SPDX-License-Identifier: Apache-2.0 */
/* What one run changes in what is known of a candidate. Nothing here touches the file. */
#include "store/runs_internal.h"

#include "racehive/signals.h"

bool rh_runs_crashed(const struct rh_runs_end *end)
{
    return rh_signal_is_crash(end->signal) && !end->hung;
}

/* All that one run says of one candidate, from the answers to one or more tasks. */
static void merge_answer(struct rh_runs_answer *all, const struct rh_runs_answer *answer)
{
    if (answer->outcome < all->outcome)
        all->outcome = answer->outcome;
    all->seen |= answer->seen;
#define MERGE_FLAG(id, member) all->member = all->member || answer->member;
    RH_RUNS_FLAGS(MERGE_FLAG)
#undef MERGE_FLAG
    for (int i = 0; i < 2; i++)
        if (answer->executions[i] > all->executions[i])
            all->executions[i] = answer->executions[i];
}

/* Counts where the sites ran, for a run that saw neither a race nor an order. Nothing is counted if
 * a key was off for some time: the sites may have met unseen. */
static void count_apart(struct rh_tally *tally, const struct rh_runs_answer *answer)
{
    const uint32_t both = RH_SEEN_FIRST | RH_SEEN_SECOND;
    if (answer->outcome != RH_OUTCOME_TIMEOUT && answer->outcome != RH_OUTCOME_NOT_SEEN)
        return;
    if (answer->seen & (RH_SEEN_MEET | RH_SEEN_HOT | RH_SEEN_UNTRACKED) || answer->suspected)
        return;
    if (answer->seen & RH_SEEN_THREADS)
        tally->apart++;
    else if ((answer->seen & both) == both)
        tally->one_thread++;
}

/* The orders that a run had of a candidate: its race in that order, or the order brought about by
 * a pause. */
static void note_orders(const struct rh_runs_task *task, const struct rh_runs_answer *answer,
                        bool orders[2])
{
    for (int order = 0; order < 2; order++)
        orders[order] = orders[order] || answer->raced[order];
    if (answer->seen & RH_SEEN_STEERED)
        orders[task->order] = true;
}

static void count_ends(struct rh_tally *tally, const struct rh_runs_answer *answer,
                       const bool orders[2])
{
    for (int order = 0; order < 2; order++) {
        tally->with[order].runs += orders[order];
        tally->with[order].crashes += orders[order] && answer->crashed;
        tally->with[order].hangs += orders[order] && answer->hung;
    }
}

static void count_run(struct rh_tally *tally, const struct rh_runs_answer *answer)
{
    tally->outcomes[answer->outcome]++;
    for (int order = 0; order < 2; order++)
        tally->raced[order] += answer->raced[order];
    tally->collisions += answer->collided;
    tally->suspected += answer->suspected;
    tally->met += (answer->seen & RH_SEEN_MEET) != 0;
    tally->exhausted += answer->exhausted && answer->outcome == RH_OUTCOME_TIMEOUT;
    tally->crashes += answer->crashed;
    tally->hangs += answer->hung;
    count_apart(tally, answer);
}

void rh_runs_add_answers(struct rh_runs_state *state, uint64_t run,
                         const struct rh_runs_task *tasks, const struct rh_runs_answer *answers,
                         size_t count, size_t at)
{
    struct rh_runs_answer all = answers[at];
    bool validates = false, orders[2] = {false, false};
    for (size_t i = at; i < count; i++) {
        if (tasks[i].candidate.id != tasks[at].candidate.id)
            continue;
        merge_answer(&all, &answers[i]);
        note_orders(&tasks[i], &answers[i], orders);
        validates = validates || tasks[i].stage != RH_STAGE_MEET;
        if (answers[i].timed_out)
            state->timed_out_us[tasks[i].order] = tasks[i].pause_us;
    }
    state->attempts += validates;
    state->explored +=
        validates && rh_verdict_of(rh_verdict_ground(&state->tally)) == RH_VERDICT_TRUE_RACE;
    count_run(&state->tally, &all);
    count_ends(&state->tally, &all, orders);
    /* A run that had to leave the candidate alone for some time has not tried all it was asked. */
    state->tally.ordered +=
        validates && all.outcome == RH_OUTCOME_NO_RACE && !(all.seen & RH_SEEN_UNTRACKED);
    for (int i = 0; i < 2; i++)
        if (all.executions[i] > state->executions[i])
            state->executions[i] = all.executions[i];
    if (run > state->last_run)
        state->last_run = run;
}
