/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that the configuration says synchronise, as far as compiling and linking must know
 * of them: their calls must still be there when racehive-instrument looks for them, so they are
 * neither inlined nor given other parameters.
 */
#ifndef RH_DRIVER_NAMED_H
#define RH_DRIVER_NAMED_H

#include "driver/wordlist.h"

/* Appends the names that rules of the file mention, each once; none if `config` is NULL or cannot
 * be read, which others have complained of. */
void rh_named_read(struct rh_wordlist *names, struct rh_arena *arena, const char *config);

/* Are all functions that an object without bitcode defines for others in the list? */
bool rh_named_cover(const struct rh_wordlist *names, const char *path);

/* Appends clang's options for them. */
void rh_named_compile(const struct rh_wordlist *names, struct rh_arena *arena,
                      struct rh_wordlist *argv);

#endif
