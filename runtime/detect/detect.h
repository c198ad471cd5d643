/* SPDX-License-Identifier: Apache-2.0 */
/* The detectors of this runtime, in the order of racehive/detectors.h. */
#ifndef RH_RUNTIME_DETECT_H
#define RH_RUNTIME_DETECT_H

#include "racehive/detectors.h"
#include "rt.h"

#define RT_DETECTOR_DECLARE(name, work, profile, summary)                                          \
    extern RT_HIDDEN const struct rt_detector rt_detector_##name;
RH_DETECTORS(RT_DETECTOR_DECLARE)
#undef RT_DETECTOR_DECLARE

#endif
