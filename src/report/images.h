/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which images of a program take part in a search for races and which do not: the program itself,
 * the shared libraries that are loaded with it, and those that its runs have loaded.
 */
#ifndef RH_REPORT_IMAGES_H
#define RH_REPORT_IMAGES_H

#include "base/strbuf.h"
#include "store/runs.h"
#include "store/sidecar.h"

/* A library that runs of a program have loaded, with what is known of it. */
struct rh_images_library {
    struct rh_runs_library row; /* of the program's store */
    char *why_not;              /* it cannot be opened; NULL: it is, and what follows is not NULL */
    struct rh_sidecar *sidecar;
    struct rh_runs *runs;
    const struct rh_sidecar_site *sites;
    uint32_t site_count;
};
struct rh_images_libraries RH_VEC_BODY(struct rh_images_library);

/* Opens the libraries that a program's store knows. The store must stay open. */
enum rh_status rh_images_open(struct rh_runs *runs, struct rh_images_libraries *list);
void rh_images_close(struct rh_images_libraries *list);
/* By its number in the program's store; NULL if there is none. */
const struct rh_images_library *rh_images_at(const struct rh_images_libraries *list,
                                             uint32_t number);

/* Adds a sentence about the libraries that the program at `path` needs, beside those of C and C++,
 * and those that its runs have loaded (NULL: not known); nothing if there are none, or if the file
 * is not there. */
void rh_images_describe(const char *path, const struct rh_images_libraries *loaded,
                        struct rh_strbuf *out);

/* The path of a library that the program needs, directly or not, by its name: a heap string, NULL
 * if it needs none of that name. */
char *rh_images_find(const char *path, const char *name);

/* Adds one line that says why a program has no candidates. */
void rh_images_explain_none(const struct rh_sidecar *sidecar, struct rh_strbuf *out);

#endif
