/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions ask not to be instrumented.
 *
 * An attribute is lost when its function is inlined, so RH_IGNORE_FUNCTION and
 * no_sanitize("thread") also leave an annotation (include/racehive/attributes.h), which LLVM keeps
 * in a table of the module. The functions of that table are known by name and place: the same
 * inline function may come from several files, each with debug information of its own.
 */
#ifndef RH_IR_READ_IGNORED_H
#define RH_IR_READ_IGNORED_H

#include "ir/read/snapshot.h"

/* Reads the table of annotations into `s->ignored`; before any location is read. */
void rh_ignored_read(struct rh_snapshot *s);
/* Whether code of a function with this DISubprogram, wherever it was inlined, is left alone. */
bool rh_ignored_has(struct rh_snapshot *s, LLVMMetadataRef subprogram);
/* Whether the function itself asks for it, in any of the ways there are. */
bool rh_ignored_asks(struct rh_snapshot *s, LLVMValueRef fn);

#endif
