/* SPDX-License-Identifier: Apache-2.0 */
/* The candidates that caper keeps: see filtered.h. */
#include "hive/filtered.h"

#include <stdlib.h>
#include <string.h>

enum rh_status rh_filtered_sites(struct rh_runs *runs, struct rh_bitset *sites)
{
    struct rh_runs_escaped_vec list = RH_VEC_INIT;
    enum rh_status status = rh_runs_list_escaped(runs, &list);
    rh_vec_each (const struct rh_runs_escaped, it, &list)
        rh_bitset_set(sites, it->site);
    rh_vec_free(&list);
    return status;
}

static enum rh_status check_store(const struct rh_runs *runs, const char *build_id,
                                  const char *path)
{
    const struct rh_runs_program *program = rh_runs_program_of(runs);
    if (strcmp(program->detector, "caper") != 0)
        return rh_fail(RH_ERR_INPUT, "the runs in %s are of %s, not of caper", path,
                       program->detector);
    if (strcmp(program->build_id, build_id) != 0)
        return rh_fail(RH_ERR_INPUT, "the runs in %s are of another build (build id %s)", path,
                       program->build_id);
    return RH_OK;
}

enum rh_status rh_filtered_load(const char *build_id, const char *path, struct rh_bitset *sites,
                                bool *found)
{
    char *usual = NULL;
    struct rh_runs *runs;
    enum rh_status status = RH_OK;
    if (!path || strcmp(path, "caper") == 0)
        status = rh_runs_default_path(build_id, "caper", &usual);
    path = usual ? usual : path;
    if (status == RH_OK)
        status = rh_runs_open_existing(path, &runs);
    *found = status == RH_OK;
    if (*found) {
        status = check_store(runs, build_id, path);
        if (status == RH_OK)
            status = rh_filtered_sites(runs, sites);
        rh_runs_close(runs);
    }
    free(usual);
    return status == RH_ERR_NOT_FOUND ? RH_OK : status;
}

enum rh_status rh_filtered_choose(const char *build_id, const char *from, struct rh_bitset *escaped,
                                  struct rh_pool_options *pool)
{
    bool found;
    enum rh_status status = rh_filtered_load(build_id, from, escaped, &found);
    if (status == RH_OK && from && !found)
        status = rh_fail(RH_ERR_NOT_FOUND, "there are no runs with caper yet: make some with "
                                           "'racehive run --detector=caper'");
    pool->escaped = found ? escaped : NULL;
    pool->only_escaped = from && found;
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
