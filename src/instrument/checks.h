/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The assembly of a check, which stands before a site of a twin in the testing profile instead of
 * a key: it asks whether this access is superfluous for the detector, and calls the hook if not.
 *
 * How it works: the runtime's directory leads from the address to the granule's first cell
 * (runtime/fasttrack/shadow.h, cell.h). If it is of the thread's present epoch and lacks none of
 * what the access needs, the thread has made such an access already, and nobody else came since.
 * The thread's epoch, and what an access of less than eight bytes needs by its place in the
 * granule, are thread-local variables of the runtime. The registers %r9 to %r11 are used.
 *
 * Three ways make checks fewer. A check of something that is done again in the same block is left
 * out, and one check stands for neighbours in memory (sites.h). In a loop that nothing can end or
 * order threads within, the check of an address that does not change stands before the loop, and so
 * does one check, a sweep, for all elements of an array, if it is known there how many they are
 * (ir/graph/sweep.h). All these accesses lie between the same two events of their thread, so an
 * access of another thread races with one that is entered early if and only if it races with it
 * when it happens.
 */
#ifndef RH_INSTRUMENT_CHECKS_H
#define RH_INSTRUMENT_CHECKS_H

#include "base/strbuf.h"
#include "instrument/sites.h"

/* What the assembly changes, as constraints. */
#define RH_CHECK_CLOBBERS "~{r9},~{r10},~{r11}"

/* Can the site have a check? Others have a key. */
bool rh_check_suits(const struct rh_site *site);

/* What the stub hands on as the access's size: enum rh_check_shape. */
uint32_t rh_check_shape(const struct rh_site *site);
/* The same of a sweep, but for how many accesses it is: so many for each round of the loop. */
uint32_t rh_check_sweep_shape(const struct rh_site *site);
uint32_t rh_check_sweep_run(const struct rh_site *site);
/* Whether a loop whose rounds are so far from each other can be one sweep. */
bool rh_check_can_sweep(const struct rh_site *site, int64_t stride);

/* Adds the assembly. `address` is an instruction that leaves the address in %r9; `stub` is where to
 * go for the hook. `has_runtime`: the runtime is linked to the same image. */
void rh_check_add(struct rh_strbuf *text, const struct rh_site *site, const char *address,
                  const char *stub, bool has_runtime);

/* Whether the check tries the second cells, too, out of line, before it calls the hook: of a read,
 * behind another thread's read. */
bool rh_check_has_second(const struct rh_site *site);
/* Adds what does that: goes to `stub`, or comes back to the check. */
void rh_check_add_second(struct rh_strbuf *text, const struct rh_site *site, const char *stub,
                         bool has_runtime);

#endif
