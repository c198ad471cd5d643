/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runs of a program's other builds, and of other detectors, leave to those of a new one.
 *
 * How it works: stores of runs lie in one folder. Those of a program of the same name, as far as
 * they were written since the last look, are opened and read. A store that cannot be read is passed
 * over. Pairs of sites, or of functions, are found again by fingerprint, so that what has changed
 * is dropped.
 */
#ifndef RH_CAMPAIGN_EARLIER_H
#define RH_CAMPAIGN_EARLIER_H

#include "store/runs.h"
#include "store/sidecar.h"

/* Lets the store at `path` know which pairs of its program's sites have met without a common lock
 * elsewhere, or raced. */
enum rh_status rh_earlier_adopt_met(struct rh_runs *runs, const char *path,
                                    const struct rh_sidecar_site *sites, uint32_t site_count);

/* Lets the store at `path`, of the detector caper, know which of its program's sites have touched
 * memory that several threads can reach in runs of other builds. */
enum rh_status rh_earlier_adopt_escaped(struct rh_runs *runs, const char *path,
                                        const struct rh_sidecar_site *sites, uint32_t site_count);

/* Lets the store at `path`, if it has seen no execution yet, take over the pairs of functions that
 * runs of another build have often seen at the same time (racehive/control.h): those of the store
 * of the same detector that was last written. */
enum rh_status rh_earlier_adopt_pairs(struct rh_runs *runs, const char *path);

#endif
