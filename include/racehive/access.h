/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kinds of accesses (enum rh_access_kind) mean: which write, which are plain, and which
 * two conflict. Search, store, reports and runtime ask here and nowhere else.
 */
#ifndef RACEHIVE_ACCESS_H
#define RACEHIVE_ACCESS_H

#include "racehive/image.h"

#include <stdbool.h>

/* A fence touches no memory: it neither reads nor writes. */
static inline bool rh_kind_writes(enum rh_access_kind kind)
{
    return kind == RH_ACCESS_WRITE || kind == RH_ACCESS_ATOMIC_WRITE ||
           kind == RH_ACCESS_ATOMIC_UPDATE;
}

/* Neither atomic nor a fence: it orders no threads. */
static inline bool rh_kind_is_plain(enum rh_access_kind kind)
{
    return kind == RH_ACCESS_READ || kind == RH_ACCESS_WRITE;
}

/* Can two accesses to the same memory be a data race: one writes, and one is plain? */
static inline bool rh_kinds_conflict(enum rh_access_kind a, enum rh_access_kind b)
{
    return a != RH_ACCESS_FENCE && b != RH_ACCESS_FENCE &&
           (rh_kind_writes(a) || rh_kind_writes(b)) && (rh_kind_is_plain(a) || rh_kind_is_plain(b));
}

#endif
