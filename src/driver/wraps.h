/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions of the C library are wrapped in a static program.
 *
 * There the library is linked in, so the runtime cannot stand in front of it by name; the linker is
 * told to redirect calls instead (--wrap). A function that the program defines itself is its own
 * business, and may not even take the same parameters: it is not redirected.
 */
#ifndef RH_DRIVER_WRAPS_H
#define RH_DRIVER_WRAPS_H

#include "driver/wordlist.h"

/* Adds to `wraps` those of `symbols` that no file of the program defines, as far as lld told with
 * --trace-symbol. */
void rh_wraps_choose(const struct rh_wordlist *symbols, const char *trace,
                     struct rh_wordlist *wraps);

#endif
