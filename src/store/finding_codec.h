/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding as bytes, in the form in which stores keep it. Struct rh_finding is the layout of one
 * version of the shared memory; these bytes outlive it.
 *
 * The form. One byte with the version, RH_FINDING_VERSION. Then fields, up to the end. A field is
 * its key and its value:
 *
 *     key        varint    2 * number of the field + kind
 *     value      varint    of kind 0: a number
 *                          of kind 1: a length, followed by so many bytes
 *
 * A varint is a number of 64 bits, seven bits to a byte, the lowest first; the highest bit of a
 * byte says that more follow. Fields of kind 0 that are 0 are left out. Fields may come in any
 * order; those that may be repeated keep theirs.
 *
 *     a finding
 *       1  proof           number    enum rh_proof
 *       2  opaque          number    1 << enum rh_opaque, or'ed: synchronisation perhaps not seen
 *       3  block           number    enum rh_block_kind
 *       4  block thread    number    whose stack the block is
 *       5  pause           number    microseconds that the paused thread had waited
 *       6  data            place     of a global
 *       7  side            side      exactly two, in the order in which they came
 *     a side
 *       1  image           number    of the site, counted from 1; 0: the access has no site
 *       2  site            number    in that image
 *       3  thread          number    0 if unknown
 *       4  parent          number    the thread that created it; 0 if unknown
 *       5  size            number    bytes
 *       6  frame           place     the innermost first; at most RH_MAX_FRAMES
 *       7  lock            place     at most RH_MAX_LOCKS
 *     a place
 *       1  image           number    counted from 1; 0: in none
 *       2  tag             number    of a lock: equal if it is the same one
 *       3  offset          number    in the image; of no meaning without one, and then left out
 *
 * Places and sides are of kind 1 and hold fields again. The first two numbers of images are not
 * the same: see racehive/control.h.
 *
 * How it changes. A new member gets a new field; readers skip fields that they do not know, and
 * take 0 for those that are missing. A number of a field is never used again. Only if old fields
 * change their meaning does the version change, and the reader must then know both.
 */
#ifndef RH_STORE_FINDING_CODEC_H
#define RH_STORE_FINDING_CODEC_H

#include "base/status.h"
#include "base/strbuf.h"
#include "racehive/control.h"

#include <stdbool.h>
#include <stddef.h>

enum { RH_FINDING_VERSION = 1 };

/* Whether a finding can be encoded: the program under test may have written over it. */
bool rh_finding_is_sound(const struct rh_finding *finding);

/* Adds the bytes of a sound finding. No address is among them: offsets are kept only with images.
 */
void rh_finding_encode(const struct rh_finding *finding, struct rh_strbuf *out);

/* RH_ERR_INPUT if the bytes are of another version, or no sound finding. */
enum rh_status rh_finding_decode(const void *bytes, size_t len, struct rh_finding *finding);

/* Calls `visit` for every place that has a meaning: the data, frames and locks. False if it was
 * false for one of them. */
bool rh_finding_visit(const struct rh_finding *finding,
                      bool (*visit)(const struct rh_place *place, void *context), void *context);

#endif
