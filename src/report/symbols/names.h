/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of C++ as people read them.
 *
 * Demangling gives what the source means, in full: `void std::vector<long, std::allocator<long>
 * >::_M_realloc_insert<long const&>(...)`. The short form keeps what tells one function from
 * another at a glance: standard strings by their usual names, no allocators and other default
 * arguments, no inline namespaces, no return types, lambdas by number.
 *
 * Functions that return `char *` give heap strings of the caller.
 */
#ifndef RH_REPORT_SYMBOLS_NAMES_H
#define RH_REPORT_SYMBOLS_NAMES_H

/* The full name; NULL if this is not a name of C++. */
char *rh_names_demangle(const char *linkage);

/* The short form of a full name. */
char *rh_names_shorten(const char *full);

/* The short form without parameters, for a function in a sentence: `journal::add`. */
char *rh_names_shorten_function(const char *full);

/* A text of the analysis with every mangled name in it demangled and short. */
char *rh_names_readable(const char *text);

/* Locks as the source of a function has them: C passes their addresses, C++ the locks themselves.
 */
char *rh_names_locks(const char *locks, const char *linkage);

#endif
