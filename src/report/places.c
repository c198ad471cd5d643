/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the line of the program's own source that an access belongs to: see places.h. */
#include "report/places.h"

#include "base/path.h"

#include <ctype.h>
#include <string.h>

static bool is_system(const struct rh_sidecar_location *at)
{
    return at->file && rh_path_is_system(at->file);
}

const struct rh_sidecar_location *rh_place_own(const struct rh_sidecar_location *at)
{
    for (const struct rh_sidecar_location *it = at; it; it = it->inlined_at)
        if (it->file && it->line > 0 && !is_system(it))
            return it;
    return at;
}

bool rh_place_is_own(const struct rh_own_place *place)
{
    return place->at && place->at->file && place->at->line > 0 && !is_system(place->at);
}

bool rh_place_is_library(const struct rh_symbols_frame *frame)
{
    return frame->file ? rh_path_is_system(frame->file) : frame->image != NULL;
}

/* Names of the implementation (`__p`, `_M_left`) and `this` mean nothing outside the library. */
static bool is_internal(const char *expression)
{
    const char *at = expression;
    while (*at && !isalpha((unsigned char)*at) && *at != '_')
        at++;
    if (strncmp(at, "this", 4) == 0 && !isalnum((unsigned char)at[4]) && at[4] != '_')
        return true;
    for (; *at; at++) {
        bool begins = at == expression || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
        if (begins && at[0] == '_' && (at[1] == '_' || isupper((unsigned char)at[1])))
            return true;
    }
    return false;
}

struct rh_own_place rh_place_of_site(struct rh_symbols *symbols, const struct rh_sidecar_site *site)
{
    const struct rh_sidecar_location *own = rh_place_own(site->location);
    struct rh_own_place place = {.at = own, .expression = site->expression};
    place.function =
        own ? rh_symbols_name_function(symbols, own->function, own->linkage)
            : rh_symbols_name_function(symbols, site->function->name, site->function->linkage);
    for (const struct rh_sidecar_location *it = site->location; it != own; it = it->inlined_at)
        if (it->inlined_at == own)
            place.callee = rh_symbols_name_function(symbols, it->function, it->linkage);
    if (site->location && is_system(site->location) && site->expression &&
        is_internal(site->expression))
        place.expression = NULL;
    return place;
}

struct rh_own_place rh_place_beside(struct rh_symbols *symbols, const struct rh_sidecar_site *sites,
                                    uint32_t count, const struct rh_sidecar_site *site)
{
    for (uint32_t step = 1; step < count; step++) {
        for (int back = 0; back < 2; back++) {
            uint32_t number = back ? site->number - step : site->number + step;
            if (number >= count || sites[number].function != site->function)
                continue;
            struct rh_own_place place = rh_place_of_site(symbols, &sites[number]);
            if (!rh_place_is_own(&place))
                continue;
            place.callee = place.expression = NULL;
            return place;
        }
    }
    return (struct rh_own_place){0};
}

static const char *name_frame(struct rh_symbols *symbols, const struct rh_symbols_frame *frame)
{
    return frame->function ? rh_symbols_name_function(symbols, frame->function, frame->linkage)
                           : "?";
}

void rh_place_improve(struct rh_symbols *symbols, const struct rh_symbols_frames *frames,
                      struct rh_own_place *place)
{
    if (place->at && !is_system(place->at))
        return;
    for (size_t i = 0; i < frames->len; i++) {
        const struct rh_symbols_frame *frame = &frames->data[i];
        if (!frame->file || frame->line == 0 || rh_place_is_library(frame))
            continue;
        struct rh_sidecar_location *at =
            rh_arena_new(rh_symbols_arena(symbols), struct rh_sidecar_location);
        *at = (struct rh_sidecar_location){.file = frame->file,
                                           .line = frame->line,
                                           .column = frame->column,
                                           .function = frame->function,
                                           .linkage = frame->linkage,
                                           .is_near = frame->is_near};
        place->at = at;
        place->function = name_frame(symbols, frame);
        if (i > 0)
            place->callee = name_frame(symbols, &frames->data[i - 1]);
        return;
    }
}
