/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether code of a module may order threads in ways that nobody sees: by assembly, by functions
 * that it looks up by name, past the runtime's, or by locks of the C library around functions of
 * its own. A detector must not take the absence of an order for a proof in a program that has such
 * code.
 */
#ifndef RH_INSTRUMENT_OPAQUE_H
#define RH_INSTRUMENT_OPAQUE_H

#include "ir/ir.h"

/* Is it known how the function of that name orders threads? */
typedef bool rh_opaque_known(const void *arg, const char *function);

/* Inline assembly that touches memory, or file-scope assembly with instructions. An empty one,
 * which only holds the compiler back, and instructions that cannot order threads do not count, nor
 * do functions for which `known` says true. */
bool rh_opaque_module(const struct rh_module *m, rh_opaque_known *known, const void *arg);

/* Functions that synchronise, looked up by dlsym: the module has the name of one. What is found in
 * a library's handle is the library's own, and not what the runtime puts in its place. */
bool rh_opaque_lookups(const struct rh_module *m);

/* Functions of the module that the C library calls under locks of its own: those of a stream made
 * by fopencookie, the callback of dl_iterate_phdr, conversions of printf. */
bool rh_opaque_callbacks(const struct rh_module *m);

/* Memory that is given back by functions of an allocator that the runtime does not stand in front
 * of: operator delete, which calls free unless an allocator brings its own, here or in C++'s
 * library, and what is not in the standard. */
bool rh_opaque_frees(const struct rh_module *m);

/* The same of a text of assembly: exposed for its test. `known` may be NULL. */
bool rh_opaque_assembly(const char *text, size_t len, rh_opaque_known *known, const void *arg);

#endif
