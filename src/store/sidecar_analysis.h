/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the analysis of the whole program leaves in a sidecar: the candidates as groups of classes
 * of sites, the accesses it removed and why, and what it cost. store/sidecar.h documents the
 * tables; store/candidates.h gives the candidates one by one.
 */
#ifndef RH_STORE_SIDECAR_ANALYSIS_H
#define RH_STORE_SIDECAR_ANALYSIS_H

#include "candidate/score.h"
#include "store/sidecar.h"

/* An access that is no site. */
struct rh_sidecar_removed {
    enum rh_access_kind access;
    enum rh_memory_order order;
    uint32_t size;
    uint32_t flags; /* enum rh_site_flags */
    const struct rh_sidecar_function *function;
    const struct rh_sidecar_location *location; /* or NULL */
    const char *expression;                     /* or NULL */
    const char *reason;
    const char *detail; /* or NULL */
};

#define RH_SIDECAR_NO_TIME UINT64_MAX

struct rh_sidecar_phase {
    const char *name;
    uint64_t milliseconds; /* RH_SIDECAR_NO_TIME if it was not kept */
};

/* A filter and the pairs it removed; the last of all says what remains. */
struct rh_sidecar_filter {
    const char *name;
    uint64_t pairs;
};

struct rh_sidecar_unknown {
    const char *name;
    uint64_t calls;
    uint64_t objects;
};

struct rh_sidecar_class {
    uint32_t number;
    const char *threads;
    const char *locks; /* "" for none */
};

enum rh_sidecar_group_flags {
    RH_GROUP_BUSY_WAIT = 1, /* a loop waits on a plain flag */
    RH_GROUP_VAGUE = 2,     /* a pointer may point to many objects */
};

/* A class and its partners: see store/sidecar.h. */
struct rh_sidecar_group {
    uint32_t number;
    uint32_t first; /* class */
    uint32_t score; /* candidate/score.h */
    uint32_t flags; /* enum rh_sidecar_group_flags */
    const char *why;
    const char *object; /* or NULL */
    /* Classes, not below `first`, as base/packed.h has them; not needed for writing. */
    const void *partners;
    size_t partners_len;
};

/*
 * Writing, as in store/sidecar.h: failures are kept for the commit, strings are copied. Rows keep
 * the order in which they are added. Classes come in the order of their numbers, after all sites;
 * groups in the order of theirs, after all classes.
 */
void rh_sidecar_add_removed(struct rh_sidecar_writer *writer,
                            const struct rh_sidecar_removed *removed);
void rh_sidecar_add_phase(struct rh_sidecar_writer *writer, const char *name,
                          uint64_t milliseconds);
/* The last one is what remains. */
void rh_sidecar_add_filter(struct rh_sidecar_writer *writer, const char *name, uint64_t pairs);
void rh_sidecar_add_unknown(struct rh_sidecar_writer *writer, const char *name, uint64_t calls,
                            uint64_t objects);
void rh_sidecar_add_class(struct rh_sidecar_writer *writer, const struct rh_sidecar_class *row,
                          const uint32_t *sites, size_t site_count);
/* Partners are classes in rising order. No two classes may be in two groups; this is not checked.
 */
void rh_sidecar_add_group(struct rh_sidecar_writer *writer, const struct rh_sidecar_group *group,
                          const uint32_t *partners, size_t partner_count);

/*
 * Reading. Each walks its table in the order of numbers; at the end *more is false and the walk
 * starts again. What is handed out lives until the sidecar is closed, except that the names of
 * phases, filters and unknown functions live until the next one is asked for.
 */
enum rh_status rh_sidecar_next_removed(struct rh_sidecar *sidecar,
                                       struct rh_sidecar_removed *removed, bool *more);
enum rh_status rh_sidecar_next_phase(struct rh_sidecar *sidecar, struct rh_sidecar_phase *phase,
                                     bool *more);
enum rh_status rh_sidecar_next_filter(struct rh_sidecar *sidecar, struct rh_sidecar_filter *filter,
                                      bool *more);
enum rh_status rh_sidecar_next_unknown(struct rh_sidecar *sidecar,
                                       struct rh_sidecar_unknown *unknown, bool *more);
enum rh_status rh_sidecar_next_class(struct rh_sidecar *sidecar, struct rh_sidecar_class *row,
                                     bool *more);
/* By rising numbers of sites. */
enum rh_status rh_sidecar_next_class_site(struct rh_sidecar *sidecar, uint32_t *site,
                                          uint32_t *class_number, bool *more);
enum rh_status rh_sidecar_next_group(struct rh_sidecar *sidecar, struct rh_sidecar_group *group,
                                     bool *more);

/* RH_ERR_NOT_FOUND, with the build's reason in the message, if the program was not analysed. */
enum rh_status rh_sidecar_check_analysed(struct rh_sidecar *sidecar);

#endif
