/* SPDX-License-Identifier: Apache-2.0 */
/* Where the tools are that the driver runs: clang and its linker, and the driver's own files. */
#ifndef RH_DRIVER_TOOLS_H
#define RH_DRIVER_TOOLS_H

#include "base/status.h"

/*
 * The program to run for a path that was found when this was built: that path, or, on a machine
 * where it is not there, the program of the same name in PATH. A heap string.
 */
enum rh_status rh_tools_find(const char *built_path, char **out);

/*
 * The linker that clang would have called: the given one, which is a path or a name that is looked
 * for beside clang and then in PATH, or `ld`. A heap string.
 */
enum rh_status rh_tools_find_linker(const char *given, char **out);

/* The folder of an installation or build tree that holds `bin`, `lib` and `include`, found from
 * `up` levels above the running executable's folder. A heap string. */
enum rh_status rh_tools_find_prefix(int up, char **out);

#endif
