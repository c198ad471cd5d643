/* SPDX-License-Identifier: Apache-2.0 */
/* The detectors this runtime has. */
#ifndef RH_RUNTIME_DETECT_H
#define RH_RUNTIME_DETECT_H

#include "rt.h"

/* One row per detector: its name; its vtable is rt_detector_NAME in detect/NAME.c. */
#define RT_DETECTORS(X) X(racemob) X(racechaser) X(litehb) X(count) X(trace)

#define RT_DETECTOR_DECLARE(name) extern RT_HIDDEN const struct rt_detector rt_detector_##name;
RT_DETECTORS(RT_DETECTOR_DECLARE)
#undef RT_DETECTOR_DECLARE

#endif
