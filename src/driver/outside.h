/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the code without bitcode in a link can start threads: then a function that is handed to
 * it may run in one.
 *
 * How it works: code starts threads only through functions that it imports (base/starters.h), its
 * own or those of the libraries it needs. So the undefined symbols of every object, archive member
 * and shared library of the link are looked at, and of the libraries that these need in turn. The
 * C and C++ libraries themselves are left out, since src/analysis/library.def says what they do. A
 * file that cannot be found or read counts as one that can start threads.
 */
#ifndef RH_DRIVER_OUTSIDE_H
#define RH_DRIVER_OUTSIDE_H

#include "driver/ldargs.h"

/* What can start threads, for people ("libglib-2.0.so.0 (pthread_create)"), in ld's arena; NULL if
 * nothing can. After rh_inputs_inspect(). */
const char *rh_outside_starter(struct rh_ld *ld);

/* The name of a shared library of the link that has keys, in ld's arena; NULL if there is none. */
const char *rh_outside_keyed(struct rh_ld *ld);

#endif
