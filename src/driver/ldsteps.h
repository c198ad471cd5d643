/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command lines for the steps of a link, made from the one that clang gave.
 *
 * An instrumented link has two steps: lld merges all bitcode into one module; then lld links what
 * was made of that module with all that had no bitcode. A native link is the one that would have
 * been without us: of the machine code in fat objects, by the system's linker or by lld.
 */
#ifndef RH_DRIVER_LDSTEPS_H
#define RH_DRIVER_LDSTEPS_H

#include "driver/ldargs.h"

/* The objects of ours that go into the steps. */
struct rh_ld_extras {
    const char *program; /* the instrumented code; NULL while bitcode is merged */
    const char *runtime; /* NULL in a shared library */
    const char *glue;
    const struct rh_wordlist *traces; /* symbols whose definitions lld is to tell of; NULL: none */
    const struct rh_wordlist *wraps;  /* symbols to wrap; NULL: none */
    const struct rh_wordlist *named;  /* functions that must keep their parameters; NULL: none */
};

/* The command line that merges all bitcode into `output`. */
void rh_ld_make_merge(struct rh_ld *ld, const char *linker, const struct rh_ld_extras *extras,
                      const char *output, struct rh_wordlist *argv);

/* The command line that links the instrumented code with all that had no bitcode. */
void rh_ld_make_final(struct rh_ld *ld, const char *linker, const struct rh_ld_extras *extras,
                      struct rh_wordlist *argv);

/* The command line as it was given, for lld or for the system's linker; bitcode does not count. */
enum rh_ld_linker { RH_LD_LLD, RH_LD_SYSTEM };
void rh_ld_make_native(struct rh_ld *ld, const char *linker, enum rh_ld_linker kind,
                       struct rh_wordlist *argv);

#endif
