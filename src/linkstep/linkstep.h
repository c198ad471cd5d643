/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step of a link that racehive-ld runs as a child process (racehive-instrument): reads the
 * merged module, finds the candidates, puts keys at their sites, writes the object, and leaves
 * PROG.racehive.
 *
 * It talks with racehive-ld over its standard input and output. It says what it is doing (`doing
 * WHAT`), and when the object is written, `object`; while the linker runs, it makes the sidecar;
 * then it is told `build-id HEX` (or `-` for none) and lets the sidecar appear. If the pipe closes
 * without that line the link has failed, and nothing appears. Being a process of its own, it may
 * crash in LLVM without failing the build.
 */
#ifndef RH_LINKSTEP_LINKSTEP_H
#define RH_LINKSTEP_LINKSTEP_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* What is asked, as on the command line: see main.c. */
/* Without candidates no run knows what to look for: worth a wait. */
enum { RH_ANALYSIS_SECONDS = 600 };

struct rh_linkstep {
    const char *input, *object, *sidecar, *program, *type, *profile, *keys, *sites, *escape, *cpu,
        *features, *config;
    const char *trust; /* as base/trust.h reads it */
    uint64_t opt;
    uint64_t pic;
    uint64_t seconds; /* of processor time for the search */
    bool has_native;
    bool has_runtime;    /* all of it is linked with the object, and finds libraries at run time */
    const char *keyed;   /* a shared library with keys that is linked, or NULL */
    const char *starter; /* code without bitcode that can start threads, for people; or NULL */
};

enum rh_status rh_linkstep_instrument(const struct rh_linkstep *step);

#endif
