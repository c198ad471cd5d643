/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a link reads: found as lld finds them, looked into for bitcode, and copied without
 * it where a step must not see it.
 */
#ifndef RH_DRIVER_INPUTS_H
#define RH_DRIVER_INPUTS_H

#include "driver/ldargs.h"

/*
 * Fills in what the arguments' files contain; returns how many hold bitcode. What cannot be read
 * counts as native, since the linker will say what is wrong with it.
 */
size_t rh_inputs_inspect(struct rh_ld *ld);

/* Whether code without bitcode goes into the output, other than the compiler's own start files and
 * libraries. Libraries that are loaded do not: the run sees those. */
bool rh_inputs_have_native(const struct rh_ld *ld, const struct rh_wordlist *named);

/* Adds the names of the objects and archives that have machine code alone, of the same kind;
 * nothing if there are none. */
void rh_inputs_list_native(const struct rh_ld *ld, const struct rh_wordlist *named,
                           struct rh_strbuf *out);

/* Whether a file, by its name, is one that every link has. */
bool rh_inputs_is_usual(const char *name);
/* Whether it is a shared library, or a script of the linker's that stands for one. */
bool rh_inputs_is_loaded(const char *name);

/* Writes the copies that the steps need into `folder` and enters their paths. */
enum rh_status rh_inputs_prepare(struct rh_ld *ld, const char *folder);

/* The file that `-lVALUE` means, in ld's arena, or NULL. */
const char *rh_inputs_find_library(struct rh_ld *ld, const char *value, bool is_static);

#endif
