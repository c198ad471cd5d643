/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program's earlier builds leave to a new one: the pairs of functions that their runs have
 * often seen at the same time (racehive/control.h).
 */
#ifndef RH_CAMPAIGN_EARLIER_H
#define RH_CAMPAIGN_EARLIER_H

#include "store/runs.h"

/* Lets the store at `path`, if it has seen no execution yet, take over the pairs of the store in
 * the same folder that was last written of those that are of a program of the same name and of the
 * same detector. A store that cannot be read is passed over. */
enum rh_status rh_earlier_adopt(struct rh_runs *runs, const char *path);

#endif
