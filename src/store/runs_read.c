/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what is known: states, totals. Numbers out of range are damage and are never followed. */
#include "store/runs.h"

#include "store/runs_internal.h"

static enum rh_status take_totals(struct rh_runs *runs, struct rh_runs_totals *totals)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_TOTALS];
    bool more;
    enum rh_status status = rh_db_step(row, &more);
    if (status != RH_OK)
        return status;
    bool sound = more && rh_db_take(row, 0, RH_DB_LIMIT64, &totals->runs) &&
                 rh_db_take(row, 1, RH_DB_LIMIT64, &totals->crashed) &&
                 rh_db_take(row, 2, RH_DB_LIMIT64, &totals->hung) &&
                 rh_db_take32(row, 3, RH_DB_LIMIT32, &totals->opaque) &&
                 rh_db_take(row, 4, RH_DB_LIMIT64, &totals->wall_ns) &&
                 rh_db_take(row, 5, RH_DB_LIMIT64, &totals->hook_ns) &&
                 rh_db_take(row, 6, RH_DB_LIMIT64, &totals->pause_ns);
    rh_db_reset(row);
    return sound ? RH_OK : rh_db_fail_damaged(runs->db, "totals");
}

enum rh_status rh_runs_sum(struct rh_runs *runs, struct rh_runs_totals *totals)
{
    enum rh_status status = take_totals(runs, totals);
    return status == RH_OK ? rh_runs_sum_losses(runs, totals->losses) : status;
}

enum rh_status rh_runs_count(struct rh_runs *runs, uint64_t *count)
{
    struct rh_runs_totals totals;
    enum rh_status status = rh_runs_sum(runs, &totals);
    if (status == RH_OK)
        *count = totals.runs;
    return status;
}

bool rh_runs_take_end(const struct rh_db_statement *row, int column, struct rh_runs_end *end)
{
    struct rh_db_value exit_status = rh_db_column(row, column);
    struct rh_db_value signal = rh_db_column(row, column + 1);
    uint32_t hung;
    if (exit_status.kind != RH_DB_INT || signal.kind != RH_DB_INT ||
        !rh_db_take32(row, column + 2, 2, &hung) ||
        !rh_db_take32(row, column + 3, RH_DB_LIMIT32, &end->opaque) ||
        !rh_db_take(row, column + 4, RH_DB_LIMIT64, &end->wall_ns) ||
        !rh_db_take(row, column + 5, RH_DB_LIMIT64, &end->hook_ns) ||
        !rh_db_take(row, column + 6, RH_DB_LIMIT64, &end->pause_ns))
        return false;
    end->exit_status = (int)exit_status.number;
    end->signal = (int)signal.number;
    end->hung = hung;
    return true;
}

static bool take_tally(struct rh_db_statement *row, int column, struct rh_tally *tally)
{
    bool sound = true;
#define TAKE_MEMBER(name, member)                                                                  \
    sound = rh_db_take(row, column++, RH_DB_LIMIT64, &tally->member) && sound;
    RH_RUNS_TALLY(TAKE_MEMBER)
#undef TAKE_MEMBER
    return sound;
}

static bool take_state(struct rh_db_statement *row, struct rh_runs_state *state)
{
    state->candidate.id = (uint64_t)rh_db_column(row, 0).number;
    return rh_db_take32(row, 1, RH_DB_LIMIT32, &state->candidate.first) &&
           rh_db_take32(row, 2, RH_DB_LIMIT32, &state->candidate.second) &&
           rh_db_take(row, 3, RH_DB_LIMIT64, &state->executions[0]) &&
           rh_db_take(row, 4, RH_DB_LIMIT64, &state->executions[1]) &&
           rh_db_take32(row, 5, RH_DB_LIMIT32, &state->timed_out_us[RH_ORDER_PRIMARY]) &&
           rh_db_take32(row, 6, RH_DB_LIMIT32, &state->timed_out_us[RH_ORDER_ALTERNATE]) &&
           rh_db_take(row, 7, RH_DB_LIMIT64, &state->last_run) &&
           rh_db_take(row, 8, RH_DB_LIMIT64, &state->attempts) &&
           rh_db_take(row, 9, RH_DB_LIMIT64, &state->explored) &&
           take_tally(row, 10, &state->tally);
}

/* How all runs ended, to compare those of a candidate with. */
static enum rh_status sum_ends(struct rh_runs *runs, struct rh_ends *all)
{
    struct rh_runs_totals totals;
    enum rh_status status = take_totals(runs, &totals);
    if (status == RH_OK)
        *all = (struct rh_ends){totals.runs, totals.crashed, totals.hung};
    return status;
}

enum rh_status rh_runs_get_state(struct rh_runs *runs, uint64_t candidate,
                                 struct rh_runs_state *state, bool *known)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_STATE];
    enum rh_status status = RH_RUNS_FIND(runs, STATE, known, rh_db_int((int64_t)candidate));
    if (status == RH_OK && *known && !take_state(row, state))
        status = rh_db_fail_damaged(runs->db, "candidates");
    rh_db_reset(row);
    return status == RH_OK && *known ? sum_ends(runs, &state->tally.all) : status;
}

/* Whether an id comes after those so far: a damaged tree may repeat itself for ever. */
static bool advances(const struct rh_runs *runs, uint64_t id)
{
    return runs->states.len == 0 || (int64_t)rh_vec_last(&runs->states).candidate.id < (int64_t)id;
}

static enum rh_status load_states(struct rh_runs *runs)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_STATES];
    rh_vec_clear(&runs->states);
    runs->start = 0;
    bool more;
    enum rh_status status = rh_db_step(row, &more);
    while (status == RH_OK && more) {
        struct rh_runs_state state;
        if (!take_state(row, &state) || !advances(runs, state.candidate.id)) {
            status = rh_db_fail_damaged(runs->db, "candidates");
            break;
        }
        runs->start += state.candidate.id > INT64_MAX;
        rh_vec_push(&runs->states, state);
        status = rh_db_step(row, &more);
    }
    rh_db_reset(row);
    struct rh_ends all = {0};
    if (status == RH_OK)
        status = sum_ends(runs, &all);
    rh_vec_each (struct rh_runs_state, state, &runs->states)
        state->tally.all = all;
    return status;
}

enum rh_status rh_runs_next_state(struct rh_runs *runs, struct rh_runs_state *state, bool *more)
{
    if (runs->walked == 0) {
        enum rh_status status = load_states(runs);
        if (status != RH_OK)
            return status;
    }
    *more = runs->walked < runs->states.len;
    if (*more)
        *state = runs->states.data[(runs->start + runs->walked++) % runs->states.len];
    else
        runs->walked = 0;
    return RH_OK;
}
