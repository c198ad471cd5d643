/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Crashes: a record of the signal that ends the program, made before it ends.
 *
 * Handlers are installed only where the program has none, and only while a detector runs. They
 * write the record and give the signal back its default action, so the program dies as it would
 * have, core dump included. A program that installs its own handler later replaces ours.
 */
#ifndef RH_RUNTIME_CRASH_H
#define RH_RUNTIME_CRASH_H

#include "rt.h"

RT_HIDDEN void rt_crash_start(void);

#endif
