/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One link of racehive-ld: what it works with, and the ways to do it.
 *
 * Tools say what they say into `out` and `err`; it is shown once it is known which tool counts.
 */
#ifndef RH_DRIVER_LINK_H
#define RH_DRIVER_LINK_H

#include "driver/ldargs.h"
#include "driver/settings.h"

struct rh_link {
    struct rh_settings settings;
    struct rh_ld ld;
    char *folder; /* where this executable and our other files are */
    char *lld;
    char *temps;         /* folder of intermediate files; NULL until one is needed */
    const char *sidecar; /* PROG.racehive */
    struct rh_strbuf out, err;
    int status;         /* what the last tool exited with */
    const char *reason; /* why there is no instrumented program, in ld's arena */
    bool spoiled;       /* the output is instrumented but has no sidecar: it must not stay */
    bool done;          /* the output and its sidecar are complete */
};

/* How the link with instrumented code went. */
enum rh_link_end {
    RH_LINK_DONE,
    RH_LINK_NOTHING, /* no bitcode was linked: nothing can be instrumented */
    RH_LINK_FAILED   /* for link->reason */
};

/* Merges the bitcode, instruments it and links the result (instrumented.c). */
enum rh_link_end rh_link_instrumented(struct rh_link *link);

/* Ignores the bitcode of the objects that define symbols in assembly (instrumented.c); adds their
 * names to `names`, nothing if there are none. */
void rh_link_hide_assembly(struct rh_link *link, struct rh_strbuf *names);

/* Links as if we were not there (native.c). */
enum rh_status rh_link_native(struct rh_link *link);

/* Links several objects into one that carries all their bitcode (relocatable.c). */
enum rh_status rh_link_relocatable(struct rh_link *link);

/* Makes link->temps unless it is there. */
enum rh_status rh_link_make_temps(struct rh_link *link);

/* A file of ours by its name, in the link's arena. */
const char *rh_link_own_file(struct rh_link *link, const char *name);

/* Runs a linker or another tool and waits; `out` and `err` are then what it said. */
enum rh_status rh_link_run(struct rh_link *link, const struct rh_wordlist *argv);

/* Empties `out` and `err`. */
void rh_link_forget(struct rh_link *link);

/* Writes `out` and `err` where they belong. */
void rh_link_show(struct rh_link *link);

/* Shows a command line in verbose mode. */
void rh_link_log(const struct rh_wordlist *argv);

/* The first line in `text` that tells of an error, in the link's arena; "" if it has no line. */
const char *rh_link_first_error(struct rh_link *link, const char *text);

#endif
