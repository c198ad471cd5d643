/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses that may race with another image alone: a library's code and its caller's on the same
 * memory, which no link sees together.
 *
 * How it works: the search has let off accesses for whom it found no partner in this image, or none
 * without a common lock. Where other images with keys may be in the process, that proves nothing of
 * memory that the outside knows. So such accesses are sites after all: they are in no candidate of
 * the image, but runs see whom they meet.
 */
#ifndef RH_ANALYSIS_EXPOSED_H
#define RH_ANALYSIS_EXPOSED_H

#include "analysis/analysis.h"

/* Makes them sites; how many there are. */
uint64_t rh_exposed_mark(struct rh_analysis *analysis);

#endif
