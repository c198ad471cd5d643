/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for accesses, as the programmer wrote them: `q->head`, `table[i].next`, `counter`.
 *
 * How it works: the pointer of an access is walked back through getelementptrs, casts, phis and
 * loads to a root (global, argument, local variable, allocation); debug information gives the
 * root's variable and its type, and the byte offsets along the way are turned into member names by
 * walking that type. Where the root has no name but a known type, the text is a member of the type:
 * `(struct item).next`. The source is never read.
 */
#ifndef RH_IR_NAMES_EXPR_H
#define RH_IR_NAMES_EXPR_H

#include "base/strbuf.h"
#include "ir/ir.h"

struct rh_expr; /* the module's debug information, indexed once */

struct rh_expr *rh_expr_index(struct rh_module *m);
void rh_expr_free(struct rh_expr *e);
/* Adds the expression for the memory at `ptr + offset`, `size` bytes, as seen by `inst`. Adds
 * nothing and returns false when even the fallback knows nothing. */
bool rh_expr_describe(struct rh_expr *e, const struct rh_value *inst, struct rh_value *ptr,
                      int64_t offset, uint64_t size, struct rh_strbuf *out);

#endif
