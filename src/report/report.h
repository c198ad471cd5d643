/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports: what the store of runs knows of a program, for people and for tools.
 *
 * How it works: rh_report_load turns a store and the program's sidecar into plain structs, with
 * every stack already in words (report/symbols/symbols.h); the renderers have no logic of their
 * own.
 *
 *     struct rh_report report;
 *     status = rh_report_load(runs, sidecar, &options, &report);
 *     if (status == RH_OK)
 *         status = rh_report_write(&report, RH_REPORT_TEXT, stdout, coloured);
 *     rh_report_release(&report);
 */
#ifndef RH_REPORT_REPORT_H
#define RH_REPORT_REPORT_H

#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"
#include "report/images.h"
#include "report/places.h"
#include "report/symbols/symbols.h"
#include "store/runs.h"
#include "store/sidecar_analysis.h"

#include <stdio.h>

struct rh_report_lock {
    const char *name; /* of a global, with its offset if not 0; NULL for others */
    uint32_t tag;     /* equal if it is the same lock */
};

/* One side of a race, in the order in which they came. */
struct rh_report_side {
    uint32_t thread, parent;
    const struct rh_sidecar_site *site;
    struct rh_symbols_frames frames; /* without those of the runtime and of libc's start code */
    RH_VEC(struct rh_report_lock) locks;
};

/* The best finding of a candidate, in words. */
struct rh_report_finding {
    enum rh_race_order order;
    enum rh_proof proof;
    bool proved;
    uint32_t pause_us;
    const char *block; /* "global counter", "the stack of thread 3", "heap"; never NULL */
    struct rh_report_side sides[2];
};

/* A candidate; or a race of its first site with an uninstrumented access. The second site then
 * stands for that access, with what is known of it. */
struct rh_report_candidate {
    uint64_t id;
    const struct rh_sidecar_site *first, *second;
    struct rh_own_place places[2]; /* of the two, in the program's own source */
    /* True races of the same two lines are one race: the position in the list of the first of them,
     * which is shown in full. Of all others, their own position. */
    size_t leader;
    bool is_between;                        /* two images, of which no analysis has seen both */
    const char *first_locks, *second_locks; /* that the analysis knows to be held; "" for none */
    const char *first_threads, *second_threads; /* as the analysis names them; "" if it does not */
    const char *why, *object;                   /* or NULL */
    uint32_t score;
    bool busy_wait;
    enum rh_ground ground;
    enum rh_verdict verdict;
    struct rh_tally tally;
    double bound;                      /* rh_verdict_bound */
    struct rh_report_finding *finding; /* or NULL */
    const char *consequence;           /* "none", "crash", "hang": what it is blamed for */
    int crash_signal;                  /* 0 if none */
};

static inline bool rh_report_has_uninstrumented(const struct rh_report_candidate *candidate)
{
    return candidate->second->number == RH_RUNS_UNINSTRUMENTED;
}

/* Options without which the next command would look elsewhere; NULL where the default is used. */
struct rh_report_command {
    const char *detector, *store, *symbols;
    const char *const *arguments; /* of the program, up to a NULL; NULL: they are not known */
};

struct rh_report {
    struct rh_arena arena;
    const char *program, *build_id, *detector;
    const char *path;    /* the program's, as the caller gave it; NULL if it did not */
    const char *library; /* the library's, likewise */
    struct rh_images_libraries
        libraries;                /* that runs have loaded; their candidates are here, too */
    struct rh_runs_totals totals; /* of the program's runs */
    uint64_t candidate_count; /* of all images, between them, and with uninstrumented accesses; more
                                 than the list may hold */
    /* True races first, then likely false positives, then unknown; by score, then by location. */
    RH_VEC(struct rh_report_candidate) candidates;
    uint64_t by_ground[RH_GROUND_COUNT];   /* of candidate_count */
    uint64_t suppressed, suppressed_races; /* candidates and true races that rules have hidden */
    uint64_t races; /* true races, those of the same two lines counted once */
    bool full;      /* every frame of the stacks is wanted, and every name in full */
    size_t limit;   /* races that a text shows in full; 0: all */
    struct rh_report_command command; /* what the printed next commands must repeat */
};

struct rh_suppressions;

struct rh_report_options {
    struct rh_suppressions *suppressions; /* what to hide (report/suppress.h); or NULL */
    bool full;
    size_t limit;
    struct rh_report_command command;
    /* List candidates that no run was asked about, as many as bring the list to this length. */
    size_t untried_until;
    const char *program; /* the program's path for symbols; NULL: found beside the sidecar */
    const char *library; /* path of the library that the report is about; NULL: the program */
};

/* The sidecar must stay open as long as the report, which is to be released also on failure. */
enum rh_status rh_report_load(struct rh_runs *runs, struct rh_sidecar *sidecar,
                              const struct rh_report_options *options, struct rh_report *report);
/* Leaves the true races in the list, for detectors that find races without candidates. */
void rh_report_keep_true_races(struct rh_report *report);
void rh_report_release(struct rh_report *report);

/* Formats of `racehive report --format=`: enum suffix, name. */
#define RH_REPORT_FORMATS(X)                                                                       \
    X(TEXT, "text")                                                                                \
    X(JSON, "json")                                                                                \
    X(SARIF, "sarif")                                                                              \
    X(HTML, "html")

enum rh_report_format {
#define RH_REPORT_ENUM(id, name) RH_REPORT_##id,
    RH_REPORT_FORMATS(RH_REPORT_ENUM)
#undef RH_REPORT_ENUM
        RH_REPORT_FORMAT_COUNT
};

/* Colours only in text. */
enum rh_status rh_report_write(const struct rh_report *report, enum rh_report_format format,
                               FILE *out, bool coloured);

/* The verdict table that `racehive run` ends with: a line per true race and a summary. */
void rh_report_print_summary(const struct rh_report *report, FILE *out, bool coloured);

#endif
