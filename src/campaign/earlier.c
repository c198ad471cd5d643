/* SPDX-License-Identifier: Apache-2.0 */
/* What earlier builds leave to a new one: see earlier.h. */
#include "campaign/earlier.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/strbuf.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_same_program(struct rh_runs *a, struct rh_runs *b)
{
    const struct rh_runs_program *first = rh_runs_program_of(a), *second = rh_runs_program_of(b);
    return strcmp(first->name, second->name) == 0 &&
           strcmp(first->detector, second->detector) == 0 &&
           strcmp(first->build_id, second->build_id) != 0;
}

/* The newest store so far. */
struct newest {
    struct rh_runs_pair_vec pairs;
    struct timespec written;
};

static bool is_later(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

static void look_at(struct rh_runs *runs, const char *path, struct newest *newest)
{
    struct stat info;
    struct rh_runs *other;
    struct rh_runs_pair_vec pairs = RH_VEC_INIT;
    if (stat(path, &info) != 0 || !is_later(info.st_mtim, newest->written) ||
        rh_runs_open_existing(path, &other) != RH_OK)
        return;
    if (is_same_program(runs, other) && rh_runs_list_pairs(other, &pairs, NULL) == RH_OK) {
        struct rh_runs_pair_vec before = newest->pairs;
        newest->pairs = pairs;
        newest->written = info.st_mtim;
        pairs = before;
    }
    rh_vec_free(&pairs);
    rh_runs_close(other);
}

static bool is_store(const char *name, const char *detector)
{
    char *end = rh_format("-%s.runs", detector);
    size_t length = strlen(name), end_length = strlen(end);
    bool is = length > end_length && strcmp(name + length - end_length, end) == 0;
    free(end);
    return is;
}

enum rh_status rh_earlier_adopt(struct rh_runs *runs, const char *path)
{
    struct newest newest = {.pairs = RH_VEC_INIT};
    uint64_t executions = 0;
    enum rh_status status = rh_runs_list_pairs(runs, &newest.pairs, &executions);
    char *folder = rh_path_dirname(path);
    DIR *list = status == RH_OK && !executions && !newest.pairs.len ? opendir(folder) : NULL;
    for (struct dirent *entry; list && (entry = readdir(list));) {
        char *other = rh_path_join(folder, entry->d_name);
        if (is_store(entry->d_name, rh_runs_program_of(runs)->detector))
            look_at(runs, other, &newest);
        free(other);
    }
    if (list) {
        closedir(list);
        if (newest.pairs.len)
            status = rh_runs_adopt_pairs(runs, newest.pairs.data, newest.pairs.len);
    }
    free(folder);
    rh_vec_free(&newest.pairs);
    return status;
}
