/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The assembly of entries and gates of functions in the testing profile, where a sampler may decide
 * for each call whether the twin with its checks runs (racehive/sampled.h has the whole of it).
 *
 * How it works: the entry of a function has a key that only samplers switch on. It leads out of
 * line, where the call is counted down in the thread's memory, in eight instructions; when the
 * count has run out, a stub asks the sampler. Gates behind it lead out of line too: to the twin if
 * no sampler is at work, or if it has said so. The registers %r10 and %r11 are used.
 */
#ifndef RH_INSTRUMENT_ENTRIES_H
#define RH_INSTRUMENT_ENTRIES_H

#include "base/strbuf.h"
#include "ir/ir.h"

/* What the assembly changes, as constraints. */
#define RH_ENTRY_CLOBBERS "~{r10},~{r11}"

/* Add what is out of line, from label `.Lrh_ask` on, and comes back to `.Lrh_back`. `number` is the
 * function's in its image; `has_runtime`: the runtime is linked to the same image. The entry's part
 * ends where the stub that asks the sampler has to follow. */
void rh_entry_add(struct rh_strbuf *text, uint32_t number, bool has_runtime);
void rh_entry_add_gate(struct rh_strbuf *text, uint32_t number, bool has_runtime);

/* What tells whether a function's code has changed between two builds: the instructions that are
 * left after optimisation, inlined ones too, with what they name; not where they stand in the
 * source. Never 0. */
uint64_t rh_entry_fingerprint(const struct rh_function *fn);

#endif
