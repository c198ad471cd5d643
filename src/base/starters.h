/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions by which code starts threads: what a library without bitcode must import if it is
 * to run a function of the program's in a thread of its own.
 */
#ifndef RH_BASE_STARTERS_H
#define RH_BASE_STARTERS_H

#include <stdbool.h>

/* Whether the symbol is one of them. */
bool rh_starts_threads(const char *symbol);

/* Whether the symbol is a function that brings in code of which nothing is known. */
bool rh_loads_code(const char *symbol);

#endif
