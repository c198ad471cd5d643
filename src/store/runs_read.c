/* Reads what is known: states, totals. Numbers out of range are damage and are never followed. */
#include "store/runs.h"

#include "store/runs_int.h"

enum rh_status rh_runs_sum(struct rh_runs *runs, struct rh_runs_totals *totals)
{
    sqlite3_stmt *row = runs->statements[RH_RUNS_TOTALS];
    bool more;
    enum rh_status status = rh_db_step(&runs->db, row, &more);
    if (status != RH_OK)
        return status;
    bool sound = more && rh_runs_take(row, 0, INT64_MAX, &totals->runs) &&
                 rh_runs_take(row, 1, INT64_MAX, &totals->crashed) &&
                 rh_runs_take(row, 2, INT64_MAX, &totals->hung) &&
                 rh_runs_take32(row, 3, UINT32_MAX, &totals->opaque) &&
                 rh_runs_take(row, 4, INT64_MAX, &totals->wall_ns) &&
                 rh_runs_take(row, 5, INT64_MAX, &totals->hook_ns) &&
                 rh_runs_take(row, 6, INT64_MAX, &totals->pause_ns);
    sqlite3_reset(row);
    return sound ? RH_OK : rh_runs_fail_damaged(runs, "totals");
}

enum rh_status rh_runs_count(struct rh_runs *runs, uint64_t *count)
{
    struct rh_runs_totals totals;
    enum rh_status status = rh_runs_sum(runs, &totals);
    if (status == RH_OK)
        *count = totals.runs;
    return status;
}

bool rh_runs_take_end(sqlite3_stmt *row, int column, struct rh_runs_end *end)
{
    uint32_t hung;
    if (sqlite3_column_type(row, column) != SQLITE_INTEGER ||
        sqlite3_column_type(row, column + 1) != SQLITE_INTEGER ||
        !rh_runs_take32(row, column + 2, 1, &hung) ||
        !rh_runs_take32(row, column + 3, UINT32_MAX, &end->opaque) ||
        !rh_runs_take(row, column + 4, INT64_MAX, &end->wall_ns) ||
        !rh_runs_take(row, column + 5, INT64_MAX, &end->hook_ns) ||
        !rh_runs_take(row, column + 6, INT64_MAX, &end->pause_ns))
        return false;
    end->exit_status = sqlite3_column_int(row, column);
    end->signal = sqlite3_column_int(row, column + 1);
    end->hung = hung;
    return true;
}

static bool take_tally(sqlite3_stmt *row, int column, struct rh_tally *tally)
{
    bool sound = true;
#define TAKE_MEMBER(name, member)                                                                  \
    sound = rh_runs_take(row, column++, INT64_MAX, &tally->member) && sound;
    RH_RUNS_TALLY(TAKE_MEMBER)
#undef TAKE_MEMBER
    return sound;
}

static bool take_state(sqlite3_stmt *row, struct rh_runs_state *state)
{
    state->candidate.id = (uint64_t)sqlite3_column_int64(row, 0);
    return rh_runs_take32(row, 1, UINT32_MAX, &state->candidate.first) &&
           rh_runs_take32(row, 2, UINT32_MAX, &state->candidate.second) &&
           rh_runs_take(row, 3, INT64_MAX, &state->executions[0]) &&
           rh_runs_take(row, 4, INT64_MAX, &state->executions[1]) &&
           rh_runs_take32(row, 5, UINT32_MAX, &state->timed_out_us[RH_ORDER_PRIMARY]) &&
           rh_runs_take32(row, 6, UINT32_MAX, &state->timed_out_us[RH_ORDER_ALTERNATE]) &&
           rh_runs_take(row, 7, INT64_MAX, &state->last_run) &&
           rh_runs_take(row, 8, INT64_MAX, &state->attempts) &&
           rh_runs_take(row, 9, INT64_MAX, &state->explored) && take_tally(row, 10, &state->tally);
}

enum rh_status rh_runs_get_state(struct rh_runs *runs, uint64_t candidate,
                                 struct rh_runs_state *state, bool *known)
{
    sqlite3_stmt *row = runs->statements[RH_RUNS_STATE];
    enum rh_status status = RH_RUNS_FIND(runs, STATE, known, rh_db_int((int64_t)candidate));
    if (status == RH_OK && *known && !take_state(row, state))
        status = rh_runs_fail_damaged(runs, "candidates");
    sqlite3_reset(row);
    return status;
}

/* Whether an id comes after those so far: a damaged tree may repeat itself for ever. */
static bool advances(const struct rh_runs *runs, uint64_t id)
{
    return runs->states.len == 0 || (int64_t)rh_vec_last(&runs->states).candidate.id < (int64_t)id;
}

static enum rh_status load_states(struct rh_runs *runs)
{
    sqlite3_stmt *row = runs->statements[RH_RUNS_STATES];
    rh_vec_clear(&runs->states);
    runs->start = 0;
    bool more;
    enum rh_status status = rh_db_step(&runs->db, row, &more);
    while (status == RH_OK && more) {
        struct rh_runs_state state;
        if (!take_state(row, &state) || !advances(runs, state.candidate.id)) {
            status = rh_runs_fail_damaged(runs, "candidates");
            break;
        }
        runs->start += state.candidate.id > INT64_MAX;
        rh_vec_push(&runs->states, state);
        status = rh_db_step(&runs->db, row, &more);
    }
    sqlite3_reset(row);
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
