/* SPDX-License-Identifier: Apache-2.0 */
/* The candidates that caper keeps: see filtered.h. */
#include "hive/filtered.h"

enum rh_status rh_filtered_sites(struct rh_runs *runs, struct rh_bitset *sites)
{
    struct rh_runs_escaped_vec list = RH_VEC_INIT;
    enum rh_status status = rh_runs_list_escaped(runs, &list);
    rh_vec_each (const struct rh_runs_escaped, it, &list)
        rh_bitset_set(sites, it->site);
    rh_vec_free(&list);
    return status;
}

enum rh_status rh_filtered_spare(struct rh_runs *runs, uint8_t *wishes, uint32_t count)
{
    struct rh_runs_escaped_vec list = RH_VEC_INIT;
    enum rh_status status = rh_runs_list_escaped(runs, &list);
    rh_vec_each (const struct rh_runs_escaped, it, &list)
        if (it->site < count)
            wishes[it->site] = RH_SCOUT_KNOWN;
    rh_vec_free(&list);
    return status;
}

static bool wants(const void *context, const struct rh_sidecar_site *site)
{
    return rh_bitset_test(context, site->number);
}

uint64_t rh_filtered_count(struct rh_candidates *candidates, const struct rh_bitset *sites)
{
    const struct rh_candidates_filter filter = {wants, sites};
    struct rh_candidate candidate;
    uint64_t count = 0;
    rh_candidates_restart(candidates, &filter);
    while (rh_candidates_next(candidates, &candidate))
        count += rh_filtered_keeps(sites, &candidate);
    rh_candidates_restart(candidates, NULL);
    return count;
}
