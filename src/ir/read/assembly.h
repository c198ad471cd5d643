/* SPDX-License-Identifier: Apache-2.0 */
/* Asks an object with bitcode whether its source has file-scope assembly. */
#ifndef RH_IR_READ_ASSEMBLY_H
#define RH_IR_READ_ASSEMBLY_H

#include <stdbool.h>

#include "base/status.h"

/* An object without bitcode has none that matters: *has is false. */
enum rh_status rh_ir_has_assembly(const char *object_path, bool *has);

#endif
