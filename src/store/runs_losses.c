/* SPDX-License-Identifier: Apache-2.0 */
/* What runs could not do or keep, summed over all completed runs by reason. */
#include "store/runs_internal.h"

#include <string.h>

/* By name, so that a store is understood when reasons were added or taken away since. */
static const char *const names[RH_LOSS_COUNT] = {
#define LOSS_NAME(id, words) [RH_LOSS_##id] = #id,
    RH_LOSSES(LOSS_NAME)
#undef LOSS_NAME
};

static bool take_loss(const struct rh_db_statement *row, uint64_t *losses)
{
    struct rh_db_value name = rh_db_column(row, 0);
    uint64_t count;
    if (name.kind != RH_DB_TEXT || !rh_db_take(row, 1, RH_DB_LIMIT64, &count))
        return false;
    for (int i = 0; i < RH_LOSS_COUNT; i++)
        if (strcmp(names[i], name.bytes) == 0)
            losses[i] = count;
    return true;
}

enum rh_status rh_runs_sum_losses(struct rh_runs *runs, uint64_t *losses)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_LOSSES];
    memset(losses, 0, RH_LOSS_COUNT * sizeof *losses);
    bool more;
    enum rh_status status = rh_db_step(row, &more);
    while (status == RH_OK && more) {
        if (!take_loss(row, losses)) {
            status = rh_db_fail_damaged(runs->db, "losses");
            break;
        }
        status = rh_db_step(row, &more);
    }
    rh_db_reset(row);
    return status;
}

enum rh_status rh_runs_add_losses(struct rh_runs *runs, const uint64_t *sums, const uint64_t *more)
{
    enum rh_status status = RH_OK;
    for (int i = 0; i < RH_LOSS_COUNT && status == RH_OK; i++)
        if (more[i])
            status = RH_RUNS_CHANGE(runs, SET_LOSS, rh_db_text(names[i]),
                                    rh_runs_add_counter(sums[i], more[i]));
    return status;
}
