/* SPDX-License-Identifier: Apache-2.0 */
/* Enters and completes runs, each in one transaction. */
#include "store/runs.h"

#include "store/runs_internal.h"

#include <time.h>

/* --- entering --- */

static enum rh_status add_task(struct rh_runs *runs, uint64_t run, size_t number,
                               const struct rh_runs_task *task)
{
    return RH_RUNS_CHANGE(runs, ADD_TASK, rh_db_int((int64_t)run), rh_db_int((int64_t)number),
                          rh_db_int((int64_t)task->candidate.id), rh_db_int(task->candidate.first),
                          rh_db_int(task->candidate.second), rh_db_int(task->stage),
                          rh_db_int(task->order), rh_db_int(task->pause_us));
}

static enum rh_status add_tasks(struct rh_runs *runs, uint64_t run, size_t first,
                                const struct rh_runs_task *tasks, size_t count)
{
    enum rh_status status = RH_OK;
    for (size_t i = 0; i < count && status == RH_OK; i++)
        status = add_task(runs, run, first + i, &tasks[i]);
    return status;
}

static enum rh_status add_run(struct rh_runs *runs, uint32_t user, const struct rh_runs_task *tasks,
                              size_t count, uint64_t *run)
{
    int64_t number = 0;
    enum rh_status status =
        RH_RUNS_INSERT(runs, ADD_RUN, &number, rh_db_int(user), rh_db_int(time(NULL)));
    *run = (uint64_t)number;
    return status == RH_OK ? add_tasks(runs, *run, 0, tasks, count) : status;
}

enum rh_status rh_runs_begin(struct rh_runs *runs, uint32_t user, const struct rh_runs_task *tasks,
                             size_t count, uint64_t *run)
{
    enum rh_status status = rh_db_begin(runs->db, true);
    if (status != RH_OK)
        return status;
    return rh_db_end(runs->db, add_run(runs, user, tasks, count, run));
}

enum rh_status rh_runs_add_found(struct rh_runs *runs, uint64_t run, size_t asked,
                                 const struct rh_runs_task *tasks, size_t count)
{
    enum rh_status status = rh_db_begin(runs->db, true);
    if (status != RH_OK)
        return status;
    return rh_db_end(runs->db, add_tasks(runs, run, asked, tasks, count));
}

/* --- completing --- */

struct task_vec RH_VEC_BODY(struct rh_runs_task);

/* A run that is completed, as long as its transaction lasts. */
struct completion {
    uint64_t run;
    const struct rh_runs_end *end;
    const struct rh_runs_answer *answers;
    struct task_vec tasks;
};

static enum rh_status check_under_way(struct rh_runs *runs, uint64_t run)
{
    bool more;
    enum rh_status status = RH_RUNS_FIND(runs, IS_COMPLETED, &more, rh_db_int((int64_t)run));
    if (status != RH_OK)
        return status;
    if (!more)
        return rh_fail(RH_ERR_NOT_FOUND, "%s holds no run %llu", runs->db->name,
                       (unsigned long long)run);
    struct rh_db_statement *row = runs->statements[RH_RUNS_IS_COMPLETED];
    bool is_completed = rh_db_column(row, 0).number != 0;
    rh_db_reset(row);
    return !is_completed ? RH_OK
                         : rh_fail(RH_ERR_INTERNAL, "run %llu of %s was completed before",
                                   (unsigned long long)run, runs->db->name);
}

static bool take_task(struct rh_db_statement *row, size_t number, struct rh_runs_task *task)
{
    uint64_t index;
    uint32_t stage, order;
    if (!rh_db_take(row, 0, RH_DB_LIMIT32, &index) || index != number ||
        rh_db_column(row, 1).kind != RH_DB_INT ||
        !rh_db_take32(row, 2, RH_DB_LIMIT32, &task->candidate.first) ||
        !rh_db_take32(row, 3, RH_DB_LIMIT32, &task->candidate.second) ||
        !rh_db_take32(row, 4, RH_STAGE_STEER + 1, &stage) ||
        !rh_db_take32(row, 5, RH_ORDER_ALTERNATE + 1, &order) ||
        !rh_db_take32(row, 6, RH_DB_LIMIT32, &task->pause_us))
        return false;
    task->candidate.id = (uint64_t)rh_db_column(row, 1).number;
    task->stage = (enum rh_stage)stage;
    task->order = (enum rh_race_order)order;
    return true;
}

static enum rh_status load_tasks(struct rh_runs *runs, struct completion *c)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_TASKS];
    bool more;
    enum rh_status status = RH_RUNS_FIND(runs, TASKS, &more, rh_db_int((int64_t)c->run));
    while (status == RH_OK && more) {
        struct rh_runs_task task;
        if (!take_task(row, c->tasks.len, &task)) {
            status = rh_db_fail_damaged(runs->db, "tasks");
            break;
        }
        rh_vec_push(&c->tasks, task);
        status = rh_db_step(row, &more);
    }
    rh_db_reset(row);
    return status;
}

static int64_t pack_flags(const struct rh_runs_answer *answer)
{
    int64_t flags = 0;
#define PACK_FLAG(id, member) flags |= (int64_t)answer->member << RH_RUNS_FLAG_##id;
    RH_RUNS_FLAGS(PACK_FLAG)
#undef PACK_FLAG
    return flags;
}

static enum rh_status store_answer(struct rh_runs *runs, const struct completion *c, size_t number)
{
    const struct rh_runs_answer *answer = &c->answers[number];
    return RH_RUNS_CHANGE(runs, ANSWER, rh_db_int(answer->outcome), rh_db_int(answer->seen),
                          rh_db_int(pack_flags(answer)), rh_db_counter(answer->executions[0]),
                          rh_db_counter(answer->executions[1]), rh_db_int((int64_t)c->run),
                          rh_db_int((int64_t)number));
}

static enum rh_status store_state(struct rh_runs *runs, const struct rh_runs_state *state)
{
#define TALLY_VALUE(column, member) , rh_db_counter(state->tally.member)
    return RH_RUNS_CHANGE(runs, SET_STATE, rh_db_int((int64_t)state->candidate.id),
                          rh_db_int(state->candidate.first), rh_db_int(state->candidate.second),
                          rh_db_counter(state->executions[0]), rh_db_counter(state->executions[1]),
                          rh_db_int(state->timed_out_us[0]), rh_db_int(state->timed_out_us[1]),
                          rh_db_counter(state->last_run), rh_db_counter(state->attempts),
                          rh_db_counter(state->explored) RH_RUNS_TALLY(TALLY_VALUE));
#undef TALLY_VALUE
}

static bool was_met(const struct task_vec *tasks, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (tasks->data[i].candidate.id == tasks->data[at].candidate.id)
            return true;
    return false;
}

static enum rh_status update_state(struct rh_runs *runs, const struct completion *c, size_t at)
{
    const struct rh_runs_candidate *candidate = &c->tasks.data[at].candidate;
    struct rh_runs_state state;
    bool known;
    enum rh_status status = rh_runs_get_state(runs, candidate->id, &state, &known);
    if (status != RH_OK)
        return status;
    if (!known)
        state = (struct rh_runs_state){.candidate = *candidate};
    rh_runs_add_answers(&state, c->run, c->tasks.data, c->answers, c->tasks.len, at);
    return store_state(runs, &state);
}

static enum rh_status store_answers(struct rh_runs *runs, const struct completion *c)
{
    enum rh_status status = RH_OK;
    for (size_t i = 0; i < c->tasks.len && status == RH_OK; i++) {
        status = store_answer(runs, c, i);
        if (status == RH_OK && !was_met(&c->tasks, i))
            status = update_state(runs, c, i);
    }
    return status;
}

struct rh_db_value rh_runs_add_counter(uint64_t sum, uint64_t more)
{
    return rh_db_counter(more > UINT64_MAX - sum ? UINT64_MAX : sum + more);
}

static enum rh_status store_end(struct rh_runs *runs, const struct completion *c)
{
    const struct rh_runs_end *end = c->end;
    enum rh_status status = RH_RUNS_CHANGE(
        runs, END_RUN, rh_db_int(end->exit_status), rh_db_int(end->signal), rh_db_int(end->hung),
        rh_db_int(end->opaque), rh_db_counter(end->wall_ns), rh_db_counter(end->hook_ns),
        rh_db_counter(end->pause_ns), rh_db_int((int64_t)c->run));
    struct rh_runs_totals sum;
    if (status == RH_OK)
        status = rh_runs_sum(runs, &sum);
    if (status == RH_OK)
        status = rh_runs_add_losses(runs, sum.losses, end->losses);
    if (status != RH_OK)
        return status;
    return RH_RUNS_CHANGE(runs, SET_TOTALS, rh_db_counter(sum.runs + 1),
                          rh_db_counter(sum.crashed + rh_runs_crashed(end)),
                          rh_db_counter(sum.hung + end->hung), rh_db_int(sum.opaque | end->opaque),
                          rh_runs_add_counter(sum.wall_ns, end->wall_ns),
                          rh_runs_add_counter(sum.hook_ns, end->hook_ns),
                          rh_runs_add_counter(sum.pause_ns, end->pause_ns));
}

static enum rh_status complete_run(struct rh_runs *runs, struct completion *c, size_t count,
                                   const struct rh_runs_finding *findings, size_t finding_count)
{
    enum rh_status status = check_under_way(runs, c->run);
    if (status == RH_OK)
        status = load_tasks(runs, c);
    if (status == RH_OK && c->tasks.len != count)
        status = rh_fail(RH_ERR_INTERNAL, "run %llu of %s has %zu tasks and %zu answers",
                         (unsigned long long)c->run, runs->db->name, c->tasks.len, count);
    if (status == RH_OK)
        status = store_end(runs, c);
    if (status == RH_OK)
        status = store_answers(runs, c);
    for (size_t i = 0; i < finding_count && status == RH_OK; i++)
        status = rh_runs_keep_finding(runs, c->run, c->end, &findings[i]);
    return status;
}

enum rh_status rh_runs_complete(struct rh_runs *runs, uint64_t run, const struct rh_runs_end *end,
                                const struct rh_runs_answer *answers, size_t count,
                                const struct rh_runs_finding *findings, size_t finding_count,
                                const struct rh_runs_sights *sights)
{
    struct completion completion = {.run = run, .end = end, .answers = answers};
    enum rh_status status = rh_db_begin(runs->db, true);
    if (status != RH_OK)
        return status;
    status = complete_run(runs, &completion, count, findings, finding_count);
    if (status == RH_OK && sights)
        status = rh_runs_add_sights(runs, sights);
    rh_vec_free(&completion.tasks);
    return rh_db_end(runs->db, status);
}
