/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names under which a run tells of the images in its process: build id and path, in the order
 * in which they were first seen. A place in the code is then a name's number and an offset, the
 * same in every run. An image that comes back has its old number.
 */
#ifndef RH_RUNTIME_STACK_IMAGE_NAMES_H
#define RH_RUNTIME_STACK_IMAGE_NAMES_H

#include <link.h>

#include "racehive/control.h"
#include "rt.h"

/* RH_MAX_IMAGES of them; NULL: nobody wants to know. Set before threads run. */
extern RT_HIDDEN struct rh_image_name *rt_image_names;

/* The number of an image, entered if it is new; RH_NO_IMAGE if there is no room. Not in hooks:
 * under the lock of dl_iterate_phdr, and never by two threads at once. */
RT_HIDDEN uint32_t rt_image_name(const struct dl_phdr_info *info);

/* Fills in the build id alone, if it has one. */
RT_HIDDEN void rt_image_build_id(const struct dl_phdr_info *info, struct rh_image_name *name);

#endif
