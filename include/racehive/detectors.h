/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The detectors there are, for the runtime and the tools: one line each. A detector is a file of
 * runtime/detect, which defines its rt_detector_NAME, and its line here.
 */
#ifndef RACEHIVE_DETECTORS_H
#define RACEHIVE_DETECTORS_H

/* What a detector does with tasks, and so which tasks it is given. */
enum rh_detector_work {
    RH_WORK_DIAGNOSE, /* it has no tasks and finds no races: for looking at a run closely */
    RH_WORK_MEET,     /* it has no tasks, and shows which sites meet */
    RH_WORK_FILTER,   /* it has no tasks, and shows which sites touch memory that others reach */
    RH_WORK_FIND,     /* it has no tasks, and finds races at all sites at once */
    RH_WORK_VALIDATE, /* one candidate in all stages, others in the first */
    RH_WORK_COLLIDE,  /* pauses at one site of a candidate, in one order and the other */
    RH_WORK_ORDER,    /* the order of a candidate's accesses, without pauses */
};

/* How a program must be built for it: the value of --rh-profile. */
enum rh_detector_profile { RH_NEEDS_PRODUCTION, RH_NEEDS_TESTING, RH_NEEDS_IFRIT };

/* X(name, work, profile, summary) */
#define RH_DETECTORS(X)                                                                            \
    X(racemob, VALIDATE, PRODUCTION,                                                               \
      "validates candidates: meetings, happens-before on demand, steering")                        \
    X(racechaser, COLLIDE, PRODUCTION,                                                             \
      "collisions at one ordered pair of sites, under a hard bound of overhead")                   \
    X(litehb, ORDER, PRODUCTION, "happens-before on demand for candidates, without pauses")        \
    X(alias, MEET, PRODUCTION,                                                                     \
      "which candidate sites meet, with and without a common lock; for tests, without a budget")   \
    X(caper, FILTER, PRODUCTION,                                                                   \
      "which candidates may race at all: every one that raced in a run is among them")             \
    X(fasttrack, FIND, TESTING,                                                                    \
      "every race of the observed order, by vector clocks; for tests, without a budget")           \
    X(literace, FIND, TESTING,                                                                     \
      "fasttrack on a sample of calls: bursts of each function in each thread, ever fewer")        \
    X(atexrace, FIND, TESTING,                                                                     \
      "fasttrack on a sample of calls: pairs of functions at the same time, across runs")          \
    X(count, DIAGNOSE, PRODUCTION, "which sites ran, in which threads, how often")                 \
    X(trace, DIAGNOSE, PRODUCTION, "every access and synchronisation event, one line each")

struct rh_detector {
    const char *name;
    enum rh_detector_work work;
    enum rh_detector_profile profile;
    const char *summary;
};

#define RH_DETECTOR_ROW(name, work, profile, summary)                                              \
    {#name, RH_WORK_##work, RH_NEEDS_##profile, summary},
static const struct rh_detector rh_detectors[] = {RH_DETECTORS(RH_DETECTOR_ROW)};
#undef RH_DETECTOR_ROW

enum { RH_DETECTOR_COUNT = sizeof rh_detectors / sizeof rh_detectors[0] };

#endif
