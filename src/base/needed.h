/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the shared libraries are that a program or library needs, as far as that can be said
 * without running it.
 */
#ifndef RH_BASE_NEEDED_H
#define RH_BASE_NEEDED_H

#include "base/elf.h"

/* The file that `name` means to the image at `path`: looked for where the image itself says (its
 * runpath), in the folders given, and beside it. A heap string, NULL if it is nowhere. */
char *rh_needed_path(const struct rh_elf *elf, const char *path, const char *name,
                     const char *const *folders, size_t count);

#endif
