/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of words, such as command lines, and the response files (`@FILE`) that they may name.
 *
 * A list owns its array, never its words: those live in argv or in an arena.
 */
#ifndef RH_DRIVER_WORDLIST_H
#define RH_DRIVER_WORDLIST_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <stdbool.h>

struct rh_wordlist RH_VEC_BODY(const char *);

/*
 * Appends the words of `argv[0..argc)`, each `@FILE` replaced by the words in that file, files
 * inside files included. As clang and the linkers have it, a word whose file cannot be read stays
 * what it is.
 */
void rh_wordlist_expand(struct rh_wordlist *words, struct rh_arena *arena, size_t argc,
                        const char *const *argv);

/* Appends the words of a response file's text: split at blanks, with quotes and backslashes. */
void rh_wordlist_split(struct rh_wordlist *words, struct rh_arena *arena, const char *text);

/* Adds the words as the text of a response file that rh_wordlist_split() takes apart again. */
void rh_wordlist_join(const struct rh_wordlist *words, struct rh_strbuf *text);

/* Whether `word` begins with `prefix`; if so, and `rest` is not NULL, *rest is what follows. */
bool rh_word_starts(const char *word, const char *prefix, const char **rest);

#endif
