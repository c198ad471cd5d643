/* SPDX-License-Identifier: Apache-2.0 */
/* A detector that does nothing: what is the least that one needs. */
#include "detect.h"

static bool empty_start(void)
{
    return true;
}

static void empty_access(struct rt_thread *self, const struct rt_access *a)
{
    (void)self;
    (void)a;
}

static void empty_finish(void)
{
}

const struct rt_detector rt_detector_empty = {
    .start = empty_start,
    .access = empty_access,
    .after = empty_access,
    .finish = empty_finish,
};
