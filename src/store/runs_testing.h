/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the store of runs: a store, runs that say what a test wants, and random numbers. */
#ifndef RH_STORE_RUNS_TESTING_H
#define RH_STORE_RUNS_TESTING_H

#include "base/hash.h"
#include "store/db_testing.h"
#include "store/runs.h"

#include <stdio.h>
#include <string.h>

static const struct rh_runs_program fixture_program = {"0123456789abcdef", "prog", "racemob",
                                                       "/bin/prog.racehive"};

static inline struct rh_runs *open_store(const char *path)
{
    struct rh_runs *runs;
    assert_status(RH_OK, rh_runs_open(path, &fixture_program, &runs));
    return runs;
}

static inline struct rh_runs_task make_task(uint64_t candidate)
{
    return (struct rh_runs_task){.candidate = {candidate, 3, 5},
                                 .stage = RH_STAGE_STEER,
                                 .order = RH_ORDER_ALTERNATE,
                                 .pause_us = 250};
}

static inline uint64_t begin_run(struct rh_runs *runs, const struct rh_runs_task *tasks,
                                 size_t count)
{
    uint64_t run;
    assert_status(RH_OK, rh_runs_begin(runs, 7, tasks, count, &run));
    return run;
}

/* A whole run with one task and no races. */
static inline uint64_t run_once(struct rh_runs *runs, uint64_t candidate,
                                const struct rh_runs_answer *answer)
{
    const struct rh_runs_task task = make_task(candidate);
    const struct rh_runs_end end = {.wall_ns = 1000, .hook_ns = 10, .pause_ns = 1};
    uint64_t run = begin_run(runs, &task, 1);
    assert_status(RH_OK, rh_runs_complete(runs, run, &end, answer, 1, NULL, 0, NULL));
    return run;
}

static inline struct rh_runs_state state_of(struct rh_runs *runs, uint64_t candidate)
{
    struct rh_runs_state state;
    bool known;
    assert_status(RH_OK, rh_runs_get_state(runs, candidate, &state, &known));
    assert_true(known);
    return state;
}

static inline uint64_t count_runs(struct rh_runs *runs)
{
    uint64_t count;
    assert_status(RH_OK, rh_runs_count(runs, &count));
    return count;
}

static inline struct rh_image_name *fixture_images(void)
{
    static struct rh_image_name images[RH_MAX_IMAGES];
    for (uint32_t i = 0; i < RH_MAX_IMAGES; i++) {
        images[i].ready = 1;
        images[i].build_id_size = i % 3 == 2 ? 0 : 20;
        memset(images[i].build_id, (int)(i % 3 == 2 ? 0 : i + 1), sizeof images[i].build_id);
        snprintf(images[i].path, sizeof images[i].path, i == 0 ? "" : "/lib/lib%u.so", i);
    }
    return images;
}

/* A race with places in images 0, 2, 5 and 63; `mark` makes it known again. */
static inline struct rh_runs_finding make_race(uint64_t candidate, enum rh_race_order order,
                                               enum rh_proof proof, bool proved, uint32_t mark)
{
    struct rh_runs_finding race = {
        .candidate = candidate, .proved = proved, .images = fixture_images()};
    race.order = order;
    race.finding.proof = proof;
    race.finding.block = RH_BLOCK_GLOBAL;
    race.finding.pause_us = mark;
    race.finding.data = (struct rh_place){.image = 63, .offset = 0x4010};
    for (int i = 0; i < 2; i++) {
        struct rh_finding_side *side = &race.finding.sides[i];
        side->thread = (uint32_t)i + 1;
        side->frame_count = 2;
        side->frames[0] = (struct rh_place){.image = 0, .offset = 0x1000};
        side->frames[1] = (struct rh_place){.image = 5, .offset = 0x2000};
        side->lock_count = 2;
        side->locks[0] = (struct rh_place){.image = 2, .tag = 1, .offset = 8};
        side->locks[1] = (struct rh_place){.image = RH_NO_IMAGE, .tag = 2};
    }
    return race;
}

/* A fixed sequence of numbers: a failure can be repeated by its round. */
static inline uint64_t draw(uint64_t round, uint64_t index)
{
    struct rh_hash hash;
    rh_hash_init(&hash);
    rh_hash_add_u64(&hash, round);
    rh_hash_add_u64(&hash, index);
    return rh_hash_finish(&hash);
}

#endif
