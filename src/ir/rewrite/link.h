/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging bitcode files into one, as `ld -r` merges the machine code beside them.
 */
#ifndef RH_IR_REWRITE_LINK_H
#define RH_IR_REWRITE_LINK_H

#include <stddef.h>

#include "base/status.h"

/* Links the files, of which there is at least one, in order and writes the result atomically. Bad
 * bitcode, and symbols that clash, are RH_ERR_INPUT. */
enum rh_status rh_ir_link(const char *const *paths, size_t n, const char *out_path);

#endif
