/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the stores of runs that the tests of `racehive report` look at, without any run.
 *
 * Usage: make_runs SIDECAR STORE DETECTOR [RUN...], where each RUN is one run with one task, as
 * CANDIDATE:WORD,WORD...: an outcome (race, no_race, timeout, not_seen) and what else was seen; see
 * the table of words. `pc0=HEX` and `pc1=HEX` add a frame, an offset in the program, to a side, and
 * `data=HEX` says where the memory is.
 */
#include "base/log.h"
#include "store/candidates.h"
#include "store/runs.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run being made. */
struct making {
    struct rh_runs_candidate candidate;
    uint64_t uninstrumented; /* the id of what its first site may have with one */
    bool has_uninstrumented;
    struct rh_runs_answer answer;
    struct rh_runs_end end;
    struct rh_runs_finding race;
    uint32_t met[RH_MET_COUNTS];
};

/* Libraries that are not there any more. */
enum { LIBC = 1, GHOST };

static void put_frame(struct making *m, int side, uint32_t image)
{
    struct rh_finding_side *at = &m->race.finding.sides[side];
    at->frames[at->frame_count++] = (struct rh_place){.image = image, .offset = 0x1000};
}

static void put_lock(struct making *m, int side, uint32_t tag)
{
    struct rh_finding_side *at = &m->race.finding.sides[side];
    at->locks[at->lock_count++] = (struct rh_place){.image = RH_NO_IMAGE, .tag = tag};
}

static void say_race(struct making *m)
{
    m->answer.outcome = RH_OUTCOME_RACE;
    m->race.proved = true;
}
static void say_no_race(struct making *m)
{
    m->answer.outcome = RH_OUTCOME_NO_RACE;
}
static void say_timeout(struct making *m)
{
    m->answer.outcome = RH_OUTCOME_TIMEOUT;
}
static void say_not_seen(struct making *m)
{
    m->answer.outcome = RH_OUTCOME_NOT_SEEN;
}
static void say_exhausted(struct making *m)
{
    m->answer.exhausted = true;
}
static void say_apart(struct making *m)
{
    m->answer.seen |= RH_SEEN_THREADS;
}
static void say_suspected(struct making *m)
{
    m->answer.suspected = true;
    m->end.opaque = 1 << RH_OPAQUE_LIBRARY;
}
static void say_alternate(struct making *m)
{
    m->race.order = RH_ORDER_ALTERNATE;
}
static void say_collision(struct making *m)
{
    m->answer.collided = true;
    m->race.finding.proof = RH_PROOF_COLLISION;
    m->race.finding.pause_us = 12345;
}
/* Beside the task, which saw nothing, the first site raced with an uninstrumented access. */
static void say_uninstrumented(struct making *m)
{
    struct rh_finding_side *side = &m->race.finding.sides[0];
    m->has_uninstrumented = m->race.proved = true;
    m->answer.outcome = RH_OUTCOME_NOT_SEEN;
    m->race.order = RH_ORDER_ALTERNATE;
    m->race.finding.proof = RH_PROOF_CHANGED;
    m->race.finding.pause_us = 12345;
    *side = (struct rh_finding_side){.site = {.image = RH_NO_IMAGE}};
}
static void say_watched(struct making *m)
{
    say_uninstrumented(m);
    m->race.finding.proof = RH_PROOF_WATCHPOINT;
    m->race.finding.sides[0].thread = 2;
    m->race.finding.sides[0].parent = 1;
}
static void say_lost(struct making *m)
{
    m->end.losses[RH_LOSS_FINDING] = 3;
    m->end.losses[RH_LOSS_EVENT] = 1;
}

static void say_crash(struct making *m)
{
    m->answer.crashed = true;
    m->end.signal = SIGSEGV;
}
static void say_hang(struct making *m)
{
    m->answer.hung = m->end.hung = true;
    m->end.signal = SIGKILL;
}
static void say_main(struct making *m)
{
    m->race.finding.sides[1].thread = 1;
    m->race.finding.sides[1].parent = 0;
}
static void say_forgotten(struct making *m)
{
    m->race.finding.sides[0].thread = 0;
    m->race.finding.sides[0].parent = 0;
}
static void say_stack(struct making *m)
{
    m->race.finding.block = RH_BLOCK_STACK;
    m->race.finding.block_thread = 2;
}
static void say_lock0(struct making *m)
{
    put_lock(m, 0, 7);
}
static void say_lock1(struct making *m)
{
    put_lock(m, 1, 8);
}
static void say_common(struct making *m)
{
    put_lock(m, 0, 9);
    put_lock(m, 1, 9);
}

static void say_met_locked(struct making *m)
{
    m->met[RH_MET_LOCKED] = m->met[RH_MET_ORDERED] = 1;
}
static void say_met_unlocked(struct making *m)
{
    m->met[RH_MET_UNLOCKED] = m->met[RH_MET_ORDERED] = 1;
}
static void say_met_unordered(struct making *m)
{
    m->met[RH_MET_UNLOCKED] = m->met[RH_MET_UNORDERED] = 1;
}

static void say_libc0(struct making *m)
{
    put_frame(m, 0, LIBC);
}
static void say_ghost0(struct making *m)
{
    put_frame(m, 0, GHOST);
}

static const struct word {
    const char *name;
    void (*say)(struct making *m);
} words[] = {
    {"race", say_race},
    {"no_race", say_no_race},
    {"timeout", say_timeout},
    {"not_seen", say_not_seen},
    {"exhausted", say_exhausted},
    {"apart", say_apart},
    {"suspected", say_suspected},
    {"alternate", say_alternate},
    {"collision", say_collision},
    {"lost", say_lost},
    {"crash", say_crash},
    {"hang", say_hang},
    {"main", say_main},
    {"forgotten", say_forgotten},
    {"stack", say_stack},
    {"lock0", say_lock0},
    {"lock1", say_lock1},
    {"common", say_common},
    {"libc0", say_libc0},
    {"ghost0", say_ghost0},
    {"uninstrumented", say_uninstrumented},
    {"watched", say_watched},
    {"met_locked", say_met_locked},
    {"met_unlocked", say_met_unlocked},
    {"met_unordered", say_met_unordered},
};

static void put_offset(struct making *m, const char *word)
{
    struct rh_place place = {.image = 0};
    place.offset = strtoull(strchr(word, '=') + 1, NULL, 16);
    if (strncmp(word, "pc", 2) == 0) {
        struct rh_finding_side *side = &m->race.finding.sides[word[2] - '0'];
        side->frames[side->frame_count++] = place;
    } else {
        m->race.finding.block = RH_BLOCK_GLOBAL;
        m->race.finding.data = place;
    }
}

static enum rh_status say(struct making *m, const char *word)
{
    if (strchr(word, '=')) {
        put_offset(m, word);
        return RH_OK;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i].name) == 0) {
            words[i].say(m);
            return RH_OK;
        }
    }
    return rh_fail(RH_ERR_USAGE, "what does '%s' mean?", word);
}

/* Two threads that main created, at the heap; the frame of the site, which nobody need know. */
static void start_making(struct making *m, struct rh_image_name *images)
{
    *m = (struct making){.race = {.images = images}};
    m->race.finding.block = RH_BLOCK_OTHER;
    m->race.finding.data.image = RH_NO_IMAGE;
    m->end.wall_ns = 1000;
    m->end.hook_ns = 20;
    m->end.pause_ns = 2;
    for (uint32_t i = 0; i < 2; i++) {
        struct rh_finding_side *side = &m->race.finding.sides[i];
        side->thread = i + 2;
        side->parent = 1;
        side->frames[side->frame_count++] = (struct rh_place){.image = 0, .offset = 16};
    }
}

static enum rh_status find_candidate(struct rh_sidecar *sidecar, uint64_t id, struct making *m)
{
    struct rh_candidates *candidates;
    struct rh_candidate candidate;
    enum rh_status status = rh_candidates_open(sidecar, NULL, &candidates);
    if (status != RH_OK)
        return status;
    status = RH_ERR_NOT_FOUND;
    while (status != RH_OK && rh_candidates_next(candidates, &candidate)) {
        if (candidate.id != id)
            continue;
        m->candidate =
            (struct rh_runs_candidate){id, candidate.first->number, candidate.second->number};
        m->uninstrumented = rh_candidate_uninstrumented(candidate.first);
        status = RH_OK;
    }
    rh_candidates_close(candidates);
    return status == RH_OK ? status : rh_fail(status, "no such candidate");
}

static enum rh_status complete_with_uninstrumented(struct rh_runs *runs, uint64_t run,
                                                   struct making *m)
{
    const struct rh_runs_task found = {
        .candidate = {m->uninstrumented, m->candidate.first, RH_RUNS_UNINSTRUMENTED},
        .stage = RH_STAGE_STEER,
        .order = RH_ORDER_ALTERNATE,
    };
    const struct rh_runs_answer answers[] = {
        m->answer,
        {.outcome = RH_OUTCOME_RACE, .raced = {[RH_ORDER_ALTERNATE] = true}, .collided = true},
    };
    m->race.candidate = m->uninstrumented;
    enum rh_status status = rh_runs_add_found(runs, run, 1, &found, 1);
    if (status != RH_OK)
        return status;
    return rh_runs_complete(runs, run, &m->end, answers, 2, &m->race, 1, NULL);
}

static enum rh_status complete(struct rh_runs *runs, struct making *m)
{
    struct rh_runs_task task = {m->candidate, RH_STAGE_STEER, m->race.order, 1000};
    bool has_race = m->race.proved || m->answer.suspected;
    uint64_t run;
    m->race.candidate = m->candidate.id;
    m->answer.raced[m->race.order] = m->race.proved && !m->has_uninstrumented;
    enum rh_status status = rh_runs_begin(runs, 0, &task, 1, &run);
    if (status != RH_OK)
        return status;
    if (m->has_uninstrumented)
        return complete_with_uninstrumented(runs, run, m);
    struct rh_runs_meeting meeting = {.candidate = m->candidate};
    memcpy(meeting.counts, m->met, sizeof m->met);
    bool has_met = m->met[RH_MET_ORDERED] || m->met[RH_MET_UNORDERED];
    const struct rh_runs_sights sights = {.met = &meeting, .met_count = has_met};
    return rh_runs_complete(runs, run, &m->end, &m->answer, 1, &m->race, has_race, &sights);
}

static enum rh_status make_run(struct rh_runs *runs, struct rh_sidecar *sidecar,
                               struct rh_image_name *images, char *text)
{
    struct making m;
    start_making(&m, images);
    char *rest = strchr(text, ':');
    if (!rest)
        return rh_fail(RH_ERR_USAGE, "'%s' is no run", text);
    *rest++ = '\0';
    enum rh_status status = find_candidate(sidecar, strtoull(text, NULL, 16), &m);
    for (char *word; status == RH_OK && (word = strsep(&rest, ","));)
        status = say(&m, word);
    return status == RH_OK ? complete(runs, &m) : status;
}

/* The program, by its build id, and the libraries. */
static void make_images(const char *build_id, struct rh_image_name *images)
{
    unsigned int byte;
    images[0].ready = images[LIBC].ready = images[GHOST].ready = 1;
    strcpy(images[LIBC].path, "/gone/libc.so.6");
    strcpy(images[GHOST].path, "/gone/libghost.so");
    for (; sscanf(build_id, "%2x", &byte) == 1; build_id += 2)
        images[0].build_id[images[0].build_id_size++] = (uint8_t)byte;
}

static enum rh_status make_store(char **argv, struct rh_sidecar *sidecar)
{
    static struct rh_image_name images[RH_MAX_IMAGES];
    const struct rh_runs_program program = {
        .build_id = rh_sidecar_get_meta(sidecar, RH_SIDECAR_META_BUILD_ID),
        .name = rh_sidecar_get_meta(sidecar, RH_SIDECAR_META_PROGRAM),
        .detector = argv[3],
        .sidecar = argv[1],
    };
    struct rh_runs *runs;
    make_images(program.build_id, images);
    enum rh_status status = rh_runs_open(argv[2], &program, &runs);
    if (status != RH_OK)
        return status;
    for (int i = 4; argv[i] && status == RH_OK; i++)
        status = make_run(runs, sidecar, images, argv[i]);
    rh_runs_close(runs);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        rh_log_error("usage: make_runs SIDECAR STORE DETECTOR [RUN...]");
        return 2;
    }
    struct rh_sidecar *sidecar;
    enum rh_status status = rh_sidecar_open(argv[1], &sidecar);
    if (status == RH_OK) {
        status = make_store(argv, sidecar);
        rh_sidecar_close(sidecar);
    }
    if (status != RH_OK)
        rh_log_error("%s", rh_error_text());
    return rh_exit_status(status);
}
