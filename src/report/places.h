/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a reader should look: the line of the program's own source that an access belongs to.
 *
 * An access inlined from a header of the system (`stl_tree.h`) belongs to the line that called the
 * library; if the library's function was not inlined, the stack of a finding has that line.
 */
#ifndef RH_REPORT_PLACES_H
#define RH_REPORT_PLACES_H

#include "base/arena.h"
#include "report/symbols/symbols.h"
#include "store/sidecar.h"

struct rh_own_place {
    const struct rh_sidecar_location *at; /* NULL if nothing is known */
    const char *function;                 /* whose line it is */
    const char *callee; /* what the line calls, if a function of a library makes the access; or NULL
                         */
    const char *expression; /* what is touched, in the program's words; or NULL */
};

/* Names are short, or full if the symbols are (rh_symbols_open). */
struct rh_own_place rh_place_of_site(struct rh_symbols *symbols,
                                     const struct rh_sidecar_site *site);

/* What the stack adds, if the site alone did not lead to a line of the program's own. */
void rh_place_improve(struct rh_symbols *symbols, const struct rh_symbols_frames *frames,
                      struct rh_own_place *place);

/* The nearest place of the program's own among the sites of the same function, where the optimiser
 * has left an access none but the library's function around it; `at` is NULL if there is none. */
struct rh_own_place rh_place_beside(struct rh_symbols *symbols, const struct rh_sidecar_site *sites,
                                    uint32_t count, const struct rh_sidecar_site *site);

/* Whether it is a line of the program's own. */
bool rh_place_is_own(const struct rh_own_place *place);

/* The first location outside the system's headers, from the innermost outwards; the innermost if
 * there is none. */
const struct rh_sidecar_location *rh_place_own(const struct rh_sidecar_location *at);

bool rh_place_is_library(const struct rh_symbols_frame *frame);

#endif
