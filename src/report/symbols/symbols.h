/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for places: from an image and an offset in it, as the runtime records them, to functions,
 * lines and variables, without the process.
 *
 *     struct rh_symbols *symbols = rh_symbols_open(&arena, programs);
 *     rh_symbols_add_frames(symbols, &images[place.image], place.offset, &frames);
 *     rh_symbols_close(symbols);
 *
 * The executable is sought at the paths that the caller gives; libraries where the process had
 * them; what is not there any more, or is another build by now, under /usr/lib/debug/.build-id.
 * Nothing here fails: what cannot be found has no name.
 */
#ifndef RH_REPORT_SYMBOLS_H
#define RH_REPORT_SYMBOLS_H

#include "base/arena.h"
#include "base/vec.h"
#include "racehive/control.h"
#include "store/sidecar.h"

#include <stdbool.h>
#include <stdint.h>

/* A frame of a stack; inlined functions have frames of their own. Strings may be NULL. */
struct rh_symbols_frame {
    const char *function; /* demangled, short unless full names are wanted */
    const char *linkage;  /* as the linker sees it, where that is known */
    const char *file;
    uint32_t line, column;
    const char *image; /* name of a library, NULL for the program itself */
    bool inlined;      /* into the frame that follows */
    bool is_near;      /* the line is only the nearest known */
};

struct rh_symbols_frames RH_VEC_BODY(struct rh_symbols_frame);

struct rh_symbols;

/* All strings go to the arena. `programs` are paths at which the executable may be, the best first,
 * NULL at the end; the array must outlive the symbols. */
struct rh_symbols *rh_symbols_open(struct rh_arena *arena, const char *const *programs);
void rh_symbols_close(struct rh_symbols *symbols);

/*
 * Adds the functions at a return address, innermost first: a frame without names if nothing is
 * known, and none at all for code of the runtime.
 */
void rh_symbols_add_frames(struct rh_symbols *symbols, const struct rh_image_name *image,
                           uint64_t offset, struct rh_symbols_frames *frames);

/* The variable at a place, with the distance from its beginning if that is not 0: "counter",
 * "table+16"; NULL if it is unknown. */
const char *rh_symbols_variable(struct rh_symbols *symbols, const struct rh_image_name *image,
                                uint64_t offset);

/* The name in the source's words of what the linker sees; as it is, if it is not a C++ name. */
const char *rh_symbols_demangle(struct rh_symbols *symbols, const char *linkage);

/* A function's name for a sentence, without parameters; `linkage` may be NULL. */
const char *rh_symbols_name_function(struct rh_symbols *symbols, const char *name,
                                     const char *linkage);

/* A text of the analysis with no mangled name in it; NULL stays NULL. */
const char *rh_symbols_readable(struct rh_symbols *symbols, const char *text);

/* Locks of the analysis as the source of the site has them. */
const char *rh_symbols_name_locks(struct rh_symbols *symbols, const char *locks,
                                  const struct rh_sidecar_site *site);

/* Names are short (report/symbols/names.h) unless this was called. */
void rh_symbols_want_full_names(struct rh_symbols *symbols);

struct rh_arena *rh_symbols_arena(struct rh_symbols *symbols);

#endif
