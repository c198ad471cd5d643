/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store of runs: what was asked of each run of a program, what it answered, and the verdicts
 * that follow. One database for each build of a program and detector; several processes may use it
 * at once.
 *
 * A run is entered when it starts. When it ends it is completed, with all its results, in one
 * transaction. A process that is killed in between loses that run's results and nothing else. A run
 * that was never completed counts for nothing and reserves nothing: other runs may get its tasks.
 *
 * Opening gives RH_ERR_INPUT for a store that is damaged, of a newer version, or of another build
 * or detector, and for a file that is no store; and RH_ERR_IO where the system refuses to read or
 * write. Neither changes the file, except that a sound store of an older version may be migrated
 * before its build or detector turns out to be another.
 *
 * The format. The file header's application_id is RH_RUNS_ID and its user_version is
 * RH_RUNS_VERSION. A store of an older version is migrated when it is opened, even if only to read
 * it (runs_schema.c). Numbers of 64 bits are stored as signed ones.
 *
 *     meta       which program; RH_RUNS_METAS of runs_internal.h has the names
 *       name               text      primary key
 *       value              text
 *     runs
 *       number             integer   primary key, from 1
 *       user               integer   whose run it is
 *       started            integer   seconds since 1970
 *       completed          integer   0 or 1; what follows is NULL until it is 1
 *       exit_status        integer
 *       signal             integer   0 if none
 *       hung               integer   0 or 1
 *       opaque             integer   1 << enum rh_opaque, or'ed
 *       wall_ns, hook_ns, pause_ns   integer
 *     tasks      what each run was asked, and what it answered; behind that, what it found beside;
 *                without rowid
 *       run                integer   runs.number; primary key with
 *       number             integer   the task's index
 *       candidate          integer   64 bits
 *       first, second      integer   the sites: rh_site_word of racehive/control.h, with 0 for the
 *                                    program and libraries.number for others, so that a site of
 *                                    the program is its number in the sidecar;
 *                                    RH_RUNS_UNINSTRUMENTED
 *       stage              integer   enum rh_stage
 *       "order"            integer   enum rh_race_order
 *       pause_us           integer
 *       outcome            integer   enum rh_outcome; this and what follows is NULL until the run
 *                                    is completed
 *       seen               integer   enum rh_seen, or'ed
 *       flags              integer   RH_RUNS_FLAGS of runs_internal.h, or'ed
 *       executions_first, executions_second   integer
 *     candidates what the completed runs say of each candidate that they were asked about: follows
 *                from tasks, and is kept up to date so that a state is one row
 *       id                 integer   primary key, 64 bits
 *       first, second      integer   as in tasks
 *       executions_first, executions_second   integer   the most in one run
 *       timed_out_primary, timed_out_alternate   integer   struct rh_runs_state's timed_out_us
 *       last_run           integer   runs.number
 *       attempts, explored integer   struct rh_runs_state's
 *       race, no_race, ... integer   struct rh_tally, a column per member but `all`: RH_RUNS_TALLY
 *                                    of runs_internal.h has the names
 *     findings   RH_RUNS_KEPT for each candidate, order, proof and `proved`, at most
 *       number             integer   primary key
 *       candidate          integer   64 bits; has an index
 *       run                integer   runs.number
 *       "order"            integer   enum rh_race_order
 *       proof              integer   enum rh_proof
 *       proved             integer   0 or 1
 *       failed             integer   1 if the run crashed or hung
 *       finding            blob      as store/finding_codec.h documents it
 *     images     that the places of a finding name; without rowid
 *       finding            integer   findings.number; primary key with
 *       number             integer   as in the finding's places
 *       build_id           blob      NULL if it has none
 *       path               text      "" for the executable
 *     met        pairs of sites that runs have shown to meet, or nearly, asked about or not
 *       id                 integer   primary key: that of the candidate of the two sites, 64 bits
 *       first, second      integer   as in tasks
 *       runs               integer   in which they met; 0 if none did yet
 *       locked, unlocked   integer   of these, the ones in which they met with and without a common
 *                                    lock; a run may count in both
 *       ordered, unordered integer   the same for meetings that were seen to be, or not
 *       hinted             integer   runs in which they touched common bytes in different windows
 *                                    of the scout, without a common lock: a hint that they may meet
 *       first_print, second_print    integer   fingerprints of the two sites, 64 bits: other builds
 *                                    know them by these; 0 if one is of a library
 *       elsewhere          integer   enum rh_runs_elsewhere
 *     sites      that ran
 *       number             integer   primary key, as in tasks
 *       runs               integer   in which it ran
 *       in_threads         integer   of these, the ones in which more than one thread ran it
 *     escaped    sites that touched memory which several threads can reach (the detector caper)
 *       number             integer   primary key, as in tasks
 *       print              integer   the site's fingerprint, 64 bits
 *       runs               integer   in which it did; 0: only runs of other builds have shown it
 *     adopted    one row
 *       until              integer   when stores of other builds and detectors were last looked at,
 *                                    in seconds since 1970
 *     libraries  shared libraries, and other programs, that took part in runs of this program. What
 *                they have of their own is in stores of their own; what a library has with the
 *                program, or with another library, is here
 *       number             integer   primary key, from 1 to RH_RUNS_LIBRARIES
 *       build_id           text      unique
 *       name               text      the file's name: with it, and with fingerprints, the two sides
 *                                    of a candidate are known across builds
 *       path               text      where it was when it was last loaded
 *       store              text      path of its store of runs; "" if it has none
 *       why_not            text      why it has none: it has no sidecar; "" if it has
 *       runs               integer   completed runs of this program that loaded it
 *       last_run           integer   runs.number of the last one
 *     pairs      functions that ran at the same time in two threads in the last execution that had
 *                any; without rowid
 *       first, second      integer   their fingerprints, 64 bits; primary key
 *       calls              integer   in which they were seen, in all executions of the streak
 *       last               integer   the number of that execution, as sampled counts them
 *       streak             integer   executions in a row that have seen it
 *     sampled    one row
 *       executions         integer   that have seen pairs, in the order in which they ended
 *     totals     one row, which follows from runs: struct rh_runs_totals
 *       runs, crashed, hung, opaque, wall_ns, hook_ns, pause_ns   integer
 *     losses     what the runs could not do or keep; without rowid
 *       reason             text      primary key: the suffix of enum rh_loss
 *       count              integer
 */
#ifndef RH_STORE_RUNS_H
#define RH_STORE_RUNS_H

#include "base/status.h"
#include "base/vec.h"
#include "racehive/control.h"
#include "store/verdict.h"

#include <stddef.h>

#define RH_RUNS_ID      0x52485254 /* "RHRT" */
#define RH_RUNS_VERSION 11

/* Findings that are kept for each candidate, order, proof and `proved`. */
enum { RH_RUNS_KEPT = 4 };

struct rh_runs;

/* Which program: set when the store is made. When it is opened again, build id and detector must be
 * the same, and the others are updated, because a program may move. */
struct rh_runs_program {
    const char *build_id; /* lower-case hexadecimal */
    const char *name;     /* the file's name */
    const char *detector; /* racemob, ... */
    const char *sidecar;  /* where its .racehive file was found; absolute */
};

/* The default path: $XDG_DATA_HOME/racehive/runs/BUILDID-DETECTOR.runs; a heap string. */
enum rh_status rh_runs_default_path(const char *build_id, const char *detector, char **path);

/* Opens a store; makes it, and its folder, if it does not exist. One of another build or detector
 * is RH_ERR_INPUT. */
enum rh_status rh_runs_open(const char *path, const struct rh_runs_program *program,
                            struct rh_runs **runs);
/* Opens an existing store to read it; RH_ERR_NOT_FOUND if there is none. */
enum rh_status rh_runs_open_existing(const char *path, struct rh_runs **runs);
void rh_runs_close(struct rh_runs *runs);

/* Lives until the store is closed. */
const struct rh_runs_program *rh_runs_program_of(const struct rh_runs *runs);

/* --- what a run was asked, and what it answered --- */

/* Stands in for the second site: the entry is no candidate, but a race of its first site with an
 * uninstrumented access (rh_candidate_uninstrumented). */
#define RH_RUNS_UNINSTRUMENTED UINT32_MAX

/* A candidate as the store knows it: by id, with its sites as the tables have them. */
struct rh_runs_candidate {
    uint64_t id;
    uint32_t first, second;
};

struct rh_runs_task {
    struct rh_runs_candidate candidate;
    enum rh_stage stage;
    enum rh_race_order order;
    uint32_t pause_us;
};

/* The answer to the task with the same index. */
struct rh_runs_answer {
    enum rh_outcome outcome;
    uint32_t seen;      /* enum rh_seen */
    bool raced[2];      /* proved, by order */
    bool collided;      /* at least one of them by a collision */
    bool suspected;     /* unordered, not proved */
    bool timed_out;     /* a pause of this length timed out; may come with any outcome */
    bool exhausted;     /* and it was the longest */
    bool crashed, hung; /* the run did, and this task had raced or steered */
    uint64_t executions[2];
};

/* How a run ended. */
struct rh_runs_end {
    int exit_status;
    int signal;      /* 0 if none */
    bool hung;       /* it did not end by itself, and was killed */
    uint32_t opaque; /* 1 << enum rh_opaque, or'ed */
    uint64_t wall_ns, hook_ns, pause_ns;
    uint64_t losses[RH_LOSS_COUNT]; /* what the run could not do or keep */
};

/* Whether the program crashed: it died of a signal that it caused itself, and did not hang. */
bool rh_runs_crashed(const struct rh_runs_end *end);

/* A finding of one run and the candidate it answers. */
struct rh_runs_finding {
    uint64_t candidate;
    enum rh_race_order order;           /* which of the candidate's two sites came first */
    bool proved;                        /* else suspected */
    struct rh_finding finding;          /* `ready` has no meaning here */
    const struct rh_image_name *images; /* RH_MAX_IMAGES of them, which its places name by index */
};

/* Meetings of the two sites of a candidate in one run: two threads touched common bytes at them, at
 * least one writing. */
struct rh_runs_meeting {
    struct rh_runs_candidate candidate;
    uint32_t counts[RH_MET_COUNTS];
    uint64_t prints[2]; /* fingerprints of the two sites; 0: they are not known in other builds */
};

/* A site that ran. */
struct rh_runs_ran {
    uint32_t site;
    bool in_threads; /* in more than one */
};

/* A site that touched memory which several threads can reach, in so many runs; in none if only runs
 * of other builds have shown it. */
struct rh_runs_escaped {
    uint32_t site;
    uint64_t print; /* its fingerprint */
    uint64_t runs;
};
struct rh_runs_escaped_vec RH_VEC_BODY(struct rh_runs_escaped);

/* What a run showed of all sites. Each candidate and each site is there once at most. */
struct rh_runs_sights {
    const struct rh_runs_meeting *met;
    size_t met_count;
    const struct rh_runs_ran *ran;
    size_t ran_count;
    const struct rh_runs_escaped *escaped;
    size_t escaped_count;
};

/* Enters a run with its tasks, and gives it a number. `user` is a number of the caller's. */
enum rh_status rh_runs_begin(struct rh_runs *runs, uint32_t user, const struct rh_runs_task *tasks,
                             size_t count, uint64_t *run);

/* Adds what a run found without being asked, as tasks behind the `asked` ones that it has. The run
 * must not be completed yet. Answers come in the same order. */
enum rh_status rh_runs_add_found(struct rh_runs *runs, uint64_t run, size_t asked,
                                 const struct rh_runs_task *tasks, size_t count);

/*
 * Completes a run. There must be one answer for each of its tasks; else, and if the run was
 * completed before, it is RH_ERR_INTERNAL. After a failure the run is as it was, and may be
 * completed again.
 *
 * Of each candidate, order and proof only the first RH_RUNS_KEPT findings are kept; one of a run
 * that crashed or hung replaces one of a run that did neither, and a complete one another. A
 * finding that the program under test has overwritten with nonsense is left out. `sights` may be
 * NULL.
 */
enum rh_status rh_runs_complete(struct rh_runs *runs, uint64_t run, const struct rh_runs_end *end,
                                const struct rh_runs_answer *answers, size_t count,
                                const struct rh_runs_finding *findings, size_t finding_count,
                                const struct rh_runs_sights *sights);

/* --- what is known --- */

/* How many runs were completed. */
enum rh_status rh_runs_count(struct rh_runs *runs, uint64_t *count);

struct rh_runs_state {
    struct rh_runs_candidate candidate;
    struct rh_tally tally;
    uint64_t executions[2];   /* of each site, the most in one run */
    uint32_t timed_out_us[2]; /* for each order, the last pause that timed out; 0 if none did */
    uint64_t last_run;        /* the last completed one that was asked about it */
    uint64_t attempts;        /* completed runs that validated it, not only watched it */
    uint64_t explored;        /* of these, the ones that began when it was a true race already */
};

/* Every candidate that a completed run was asked about, by rising id. At the end *more is false and
 * the walk starts again. A walk shows the store as it was when it started; it blocks no writer. */
enum rh_status rh_runs_next_state(struct rh_runs *runs, struct rh_runs_state *state, bool *more);

/* The state of one candidate; *known is false if no completed run was asked about it. */
enum rh_status rh_runs_get_state(struct rh_runs *runs, uint64_t candidate,
                                 struct rh_runs_state *state, bool *known);

/* Whether a finding tells who made both accesses. A race that is seen when the later one comes may
 * have forgotten who made the earlier. */
bool rh_runs_is_complete(const struct rh_finding *finding);

/* The kept findings of a candidate, best first: proved before suspected, then by falling enum
 * rh_proof, then those of runs that crashed or hung. `*end` tells how the finding's run ended. The
 * images live until the next call. Start with *at = 0. */
enum rh_status rh_runs_next_finding(struct rh_runs *runs, uint64_t candidate, size_t *at,
                                    struct rh_runs_finding *finding, struct rh_runs_end *end,
                                    bool *more);

/* --- what met, and what ran --- */

/* What the runs of another build, or of another detector, have shown of a pair. */
enum rh_runs_elsewhere {
    RH_RUNS_ELSEWHERE_NOTHING,
    RH_RUNS_ELSEWHERE_MET,   /* its sites met without a common lock */
    RH_RUNS_ELSEWHERE_RACED, /* and nothing ordered them */
    RH_RUNS_ELSEWHERE_COUNT
};

/* A pair of sites that met, in so many runs; in none if there are only hints that it may. */
struct rh_runs_met {
    struct rh_runs_candidate candidate;
    uint64_t runs;
    uint64_t locked, unlocked;   /* with and without a common lock; a run may count in both */
    uint64_t ordered, unordered; /* likewise */
    uint64_t hinted;             /* runs that only hint at a meeting without a common lock */
    uint64_t prints[2];          /* as in struct rh_runs_meeting */
    enum rh_runs_elsewhere elsewhere;
    bool has_raced; /* a run has proved the race */
};
struct rh_runs_met_vec RH_VEC_BODY(struct rh_runs_met);

struct rh_runs_site {
    uint32_t number;
    uint64_t runs;
    uint64_t in_threads; /* of these, the ones in which more than one thread ran it */
};
struct rh_runs_site_vec RH_VEC_BODY(struct rh_runs_site);

/* All of them, appended; the caller frees the vector. Those that met come by id, as a signed
 * number, sites by number. */
enum rh_status rh_runs_list_met(struct rh_runs *runs, struct rh_runs_met_vec *met);
enum rh_status rh_runs_list_sites(struct rh_runs *runs, struct rh_runs_site_vec *sites);

/* Likewise; also those that were adopted. */
enum rh_status rh_runs_list_escaped(struct rh_runs *runs, struct rh_runs_escaped_vec *escaped);
/* Takes over what runs of other builds have shown; known sites stay as they are. */
enum rh_status rh_runs_adopt_escaped(struct rh_runs *runs, const struct rh_runs_escaped *escaped,
                                     size_t count);

struct rh_runs_met_totals {
    uint64_t pairs;
    uint64_t unlocked;  /* of these, the ones that met without a common lock */
    uint64_t unordered; /* that nothing ordered, at least once */
};
enum rh_status rh_runs_count_met(struct rh_runs *runs, struct rh_runs_met_totals *totals);

/* What a pair may show the stores of other builds and detectors. What its own runs have seen counts
 * for more than what it was told. */
enum rh_runs_elsewhere rh_runs_shown_elsewhere(const struct rh_runs_met *met);

/* A pair of another store, as this one knows it. */
struct rh_runs_adopted {
    struct rh_runs_candidate candidate;
    uint64_t prints[2];
    enum rh_runs_elsewhere elsewhere;
};
/* Takes over what other stores show. `until`: when they were looked at, which rh_runs_adopted_until
 * tells from then on; 0 before. */
enum rh_status rh_runs_adopt_met(struct rh_runs *runs, const struct rh_runs_adopted *pairs,
                                 size_t count, int64_t until);
enum rh_status rh_runs_adopted_until(struct rh_runs *runs, int64_t *until);

/* --- pairs of functions --- */

/* Two functions, by their fingerprints, that ran at the same time in so many calls. */
struct rh_runs_pair {
    uint64_t first, second;
    uint32_t calls;
};
struct rh_runs_pair_vec RH_VEC_BODY(struct rh_runs_pair);

/* A pair is frequent if so many executions in a row have seen it. */
enum { RH_RUNS_FREQUENT = 2 };

/* Adds what an execution has seen, and drops the pairs that it has not seen: so the table does not
 * grow with the number of executions. Executions that overlap in time count in the order in which
 * they end, and each adds its own calls. One without pairs does not count. */
enum rh_status rh_runs_add_pairs(struct rh_runs *runs, const struct rh_runs_pair *pairs,
                                 size_t count);
/* Takes over the frequent pairs of another build. Those of functions that have changed since are
 * dropped by the first execution, which cannot see them. */
enum rh_status rh_runs_adopt_pairs(struct rh_runs *runs, const struct rh_runs_pair *pairs,
                                   size_t count);
/* Those that are frequent, appended, by rising fingerprints as signed numbers. `executions` may be
 * NULL. */
enum rh_status rh_runs_list_pairs(struct rh_runs *runs, struct rh_runs_pair_vec *pairs,
                                  uint64_t *executions);

/* --- libraries --- */

enum { RH_RUNS_LIBRARIES = 127 };

/* Of which image a site of a candidate is: 0 is the program, others are libraries by number. */
static inline uint32_t rh_runs_image_of(uint32_t site)
{
    return rh_site_name_of(site).image;
}

struct rh_runs_library {
    uint32_t number;
    const char *build_id; /* lower-case hexadecimal */
    const char *name, *path, *store, *why_not;
    uint64_t runs, last_run;
};
struct rh_runs_library_vec RH_VEC_BODY(struct rh_runs_library);

/* Enters a library, or where it is now; `runs` and `last_run` are not looked at. *number is 0 if
 * there are too many. */
enum rh_status rh_runs_enter_library(struct rh_runs *runs, const struct rh_runs_library *library,
                                     uint32_t *number);
/* A run loaded it. */
enum rh_status rh_runs_note_loaded(struct rh_runs *runs, uint32_t number, uint64_t run);
/* All of them by number, appended; strings live until the store is closed. */
enum rh_status rh_runs_list_libraries(struct rh_runs *runs, struct rh_runs_library_vec *list);

/* --- sums --- */

/* Sums over all completed runs. A run counts as crashed only by rh_runs_crashed. */
struct rh_runs_totals {
    uint64_t runs, crashed, hung;
    uint32_t opaque; /* or'ed */
    uint64_t wall_ns, hook_ns, pause_ns;
    uint64_t losses[RH_LOSS_COUNT];
};
enum rh_status rh_runs_sum(struct rh_runs *runs, struct rh_runs_totals *totals);

#endif
