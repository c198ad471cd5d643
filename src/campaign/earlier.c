/* SPDX-License-Identifier: Apache-2.0 */
/* What other builds and detectors leave to a new one: see earlier.h. */
#include "campaign/earlier.h"

#include "base/fs.h"
#include "base/map.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "store/candidates.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* --- the stores of a folder --- */

/* A look through the stores beside one. */
struct look {
    struct rh_runs *runs; /* the one that looks */
    /* Is the store worth being opened, by the time when it was last written? */
    bool (*wants)(const struct look *look, struct timespec written);
    /* It is of a program of the same name. */
    void (*take)(struct look *look, struct rh_runs *other, struct timespec written);
};

static bool is_other(struct rh_runs *a, struct rh_runs *b)
{
    const struct rh_runs_program *first = rh_runs_program_of(a), *second = rh_runs_program_of(b);
    bool is_same_store = strcmp(first->build_id, second->build_id) == 0 &&
                         strcmp(first->detector, second->detector) == 0;
    return !is_same_store && strcmp(first->name, second->name) == 0;
}

static void look_at(struct look *look, const char *path)
{
    struct stat info;
    struct rh_runs *other;
    if (stat(path, &info) != 0 || !look->wants(look, info.st_mtim) ||
        rh_runs_open_existing(path, &other) != RH_OK)
        return;
    if (is_other(look->runs, other))
        look->take(look, other, info.st_mtim);
    rh_runs_close(other);
}

static void look_beside(struct look *look, const char *path, const char *ending)
{
    char *folder = rh_path_dirname(path), *itself = rh_path_basename(path);
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        size_t length = strlen(entry->d_name), end_length = strlen(ending);
        if (length <= end_length || strcmp(entry->d_name + length - end_length, ending) != 0 ||
            strcmp(entry->d_name, itself) == 0)
            continue;
        char *other = rh_path_join(folder, entry->d_name);
        look_at(look, other);
        free(other);
    }
    if (list)
        closedir(list);
    free(itself);
    free(folder);
}

/* --- pairs of sites --- */

struct met_look {
    struct look look;
    int64_t since;
    const struct rh_sidecar_site *sites;
    struct rh_map by_print; /* fingerprint -> number of the first site that has it */
    RH_VEC(struct rh_runs_adopted) found;
};

/* In the second of the last look a store may have been written after it. */
static bool is_new(const struct look *look, struct timespec written)
{
    return written.tv_sec >= ((const struct met_look *)look)->since;
}

static void take_pair(struct met_look *look, const struct rh_runs_met *met)
{
    enum rh_runs_elsewhere shown = rh_runs_shown_elsewhere(met);
    uint64_t first, second;
    if (!shown || !rh_map_get(&look->by_print, met->prints[0], &first) ||
        !rh_map_get(&look->by_print, met->prints[1], &second))
        return;
    const struct rh_sidecar_site *a = &look->sites[first], *b = &look->sites[second];
    bool in_order = rh_sidecar_compare_locations(a, b) <= 0;
    const struct rh_runs_adopted pair = {
        .candidate = {rh_candidate_id(a, b), (uint32_t)(in_order ? first : second),
                      (uint32_t)(in_order ? second : first)},
        .prints = {in_order ? met->prints[0] : met->prints[1],
                   in_order ? met->prints[1] : met->prints[0]},
        .elsewhere = shown,
    };
    rh_vec_push(&look->found, pair);
}

static void take_met(struct look *look, struct rh_runs *other, struct timespec written)
{
    struct rh_runs_met_vec met = RH_VEC_INIT;
    (void)written;
    if (rh_runs_list_met(other, &met) == RH_OK)
        rh_vec_each (const struct rh_runs_met, it, &met)
            take_pair((struct met_look *)look, it);
    rh_vec_free(&met);
}

static void index_prints(struct rh_map *by_print, const struct rh_sidecar_site *sites,
                         uint32_t site_count)
{
    for (uint32_t i = 0; i < site_count; i++)
        if (!rh_map_has(by_print, sites[i].fingerprint))
            rh_map_put(by_print, sites[i].fingerprint, i);
}

enum rh_status rh_earlier_adopt_met(struct rh_runs *runs, const char *path,
                                    const struct rh_sidecar_site *sites, uint32_t site_count)
{
    struct met_look look = {.look = {runs, is_new, take_met}, .sites = sites, .found = RH_VEC_INIT};
    int64_t now = time(NULL);
    enum rh_status status = rh_runs_adopted_until(runs, &look.since);
    if (status != RH_OK)
        return status;
    index_prints(&look.by_print, sites, site_count);
    look_beside(&look.look, path, ".runs");
    status = rh_runs_adopt_met(runs, look.found.data, look.found.len, now);
    rh_vec_free(&look.found);
    rh_map_release(&look.by_print);
    return status;
}

/* --- sites that touched escaped memory --- */

struct escaped_look {
    struct look look;
    struct rh_map by_print; /* fingerprint -> number of the first site that has it */
    struct rh_runs_escaped_vec found;
};

static bool is_any(const struct look *look, struct timespec written)
{
    (void)look;
    (void)written;
    return true;
}

static void take_escaped(struct look *look, struct rh_runs *other, struct timespec written)
{
    struct escaped_look *all = (struct escaped_look *)look;
    struct rh_runs_escaped_vec list = RH_VEC_INIT;
    uint64_t site;
    (void)written;
    if (rh_runs_list_escaped(other, &list) == RH_OK)
        rh_vec_each (const struct rh_runs_escaped, it, &list)
            if (rh_map_get(&all->by_print, it->print, &site))
                rh_vec_push(&all->found,
                            (struct rh_runs_escaped){.site = (uint32_t)site, .print = it->print});
    rh_vec_free(&list);
}

enum rh_status rh_earlier_adopt_escaped(struct rh_runs *runs, const char *path,
                                        const struct rh_sidecar_site *sites, uint32_t site_count)
{
    struct escaped_look look = {.look = {runs, is_any, take_escaped}, .found = RH_VEC_INIT};
    index_prints(&look.by_print, sites, site_count);
    look_beside(&look.look, path, "-caper.runs");
    enum rh_status status = RH_OK;
    if (look.found.len)
        status = rh_runs_adopt_escaped(runs, look.found.data, look.found.len);
    rh_vec_free(&look.found);
    rh_map_release(&look.by_print);
    return status;
}

/* --- pairs of functions --- */

struct pair_look {
    struct look look;
    struct rh_runs_pair_vec newest;
    struct timespec written;
};

static bool is_later(const struct look *look, struct timespec written)
{
    const struct pair_look *pairs = (const struct pair_look *)look;
    return written.tv_sec != pairs->written.tv_sec ? written.tv_sec > pairs->written.tv_sec
                                                   : written.tv_nsec > pairs->written.tv_nsec;
}

static void take_pairs(struct look *look, struct rh_runs *other, struct timespec written)
{
    struct pair_look *pairs = (struct pair_look *)look;
    struct rh_runs_pair_vec list = RH_VEC_INIT;
    if (rh_runs_list_pairs(other, &list, NULL) == RH_OK) {
        struct rh_runs_pair_vec before = pairs->newest;
        pairs->newest = list;
        pairs->written = written;
        list = before;
    }
    rh_vec_free(&list);
}

enum rh_status rh_earlier_adopt_pairs(struct rh_runs *runs, const char *path)
{
    struct pair_look look = {.look = {runs, is_later, take_pairs}, .newest = RH_VEC_INIT};
    struct rh_runs_pair_vec known = RH_VEC_INIT;
    uint64_t executions = 0;
    enum rh_status status = rh_runs_list_pairs(runs, &known, &executions);
    if (status == RH_OK && !executions && !known.len) {
        char *ending = rh_format("-%s.runs", rh_runs_program_of(runs)->detector);
        look_beside(&look.look, path, ending);
        free(ending);
        if (look.newest.len)
            status = rh_runs_adopt_pairs(runs, look.newest.data, look.newest.len);
    }
    rh_vec_free(&known);
    rh_vec_free(&look.newest);
    return status;
}
