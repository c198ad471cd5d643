/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The images of a program: the executable, and the libraries and plugins that its runs load. Each
 * has a sidecar, a store of runs and a pool of its own, found by its build id.
 *
 * How it works: the program is opened first, then the libraries that earlier runs have loaded,
 * which its store knows. What else a run has loaded is seen in the run's shared memory when it has
 * ended, and opened then. A pair of sites of one image belongs to the store of that image, so that
 * every program that loads a library adds to what is known of it. A pair of two images belongs to
 * the program's store. A run's tasks are of one store; runs take the images by turns.
 *
 * A site has a number in its sidecar; a *word* in a store (store/runs.h), where 0 stands for the
 * store's own image; and a name in a run, with the number of the image in that run. This is the one
 * place that knows all three.
 */
#ifndef RH_CAMPAIGN_PROCESS_H
#define RH_CAMPAIGN_PROCESS_H

#include "agent/execution.h"
#include "hive/pool.h"

struct rh_process_options {
    const char *detector;
    const char *store;   /* path of the program's store; libraries have theirs beside it. NULL: all
                            are in the data folder by build id */
    const char *symbols; /* the program's sidecar; NULL: it is looked for */
    const char *from;    /* a detector, or the path of a store of the program's: only the candidates
                            that runs of it have kept; NULL: all, those first */
    struct rh_pool_options pool; /* `escaped` is found here */
};

struct rh_process_image {
    char *path; /* "" if it is not known */
    char *name;
    char *build_id;
    char *why_not; /* it takes no part, in words; NULL: it does, and what follows is not NULL */
    char *sidecar_path, *store_path;
    struct rh_sidecar *sidecar;
    struct rh_runs *runs;
    struct rh_pool *pool;
    const struct rh_sidecar_site *sites;
    uint32_t site_count;
    struct rh_bitset escaped; /* sites that runs of caper have seen touch escaped memory */
    uint64_t candidates;      /* of its own */
    uint32_t number;          /* in the program's store; 0 is the program, and a library without */
    bool is_expected;         /* the next run will load it, as far as earlier ones show */
};

struct rh_process;

/* The program at `path` and the libraries that its store knows. Closes with rh_process_close, which
 * takes NULL. */
enum rh_status rh_process_open(const char *path, const struct rh_process_options *options,
                               struct rh_process **process);
void rh_process_close(struct rh_process *process);

/* 0 is the program. */
size_t rh_process_count(const struct rh_process *process);
const struct rh_process_image *rh_process_at(const struct rh_process *process, size_t image);

/* Adds the library at `path` if it is not there yet, and gives its position. A library that cannot
 * take part is a failure here. */
enum rh_status rh_process_add(struct rh_process *process, const char *path, size_t *image);

/* Whose turn it is: an image that has candidates and is expected, else the program. */
size_t rh_process_turn(const struct rh_process *process, uint64_t turn);

/* --- a run --- */

/* What a run is told of the images, with wishes for their sites; `chance`: a random number. Lives
 * until the next call. */
enum rh_status rh_process_describe(struct rh_process *process, uint64_t chance,
                                   const struct rh_execution_image **images, size_t *count);

/* A task of an image's store, as a run is asked it. */
struct rh_execution_task rh_process_task(const struct rh_process *process, size_t image,
                                         const struct rh_runs_task *task, uint32_t skip);

/* The pairs of functions that earlier runs have often seen at the same time. Lives until the next
 * call. */
enum rh_status rh_process_pairs(struct rh_process *process, const struct rh_runs_pair **pairs,
                                size_t *count);

/* Names the sites of the run that ends next. Parts are positions of images. */
struct rh_execution_namer rh_process_namer(struct rh_process *process);

/* Enters what the run came to in all stores and tells the pools. `subject` is the image whose tasks
 * it had, and `run` its number in that store. */
enum rh_status rh_process_keep(struct rh_process *process, size_t subject, uint64_t run,
                               const struct rh_assignment *assignment,
                               const struct rh_execution_ending *ending);

/* Sums of all images' pools. */
void rh_process_count_pools(const struct rh_process *process, struct rh_pool_counts *counts);

#endif
