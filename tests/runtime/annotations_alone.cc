// SPDX-License-Identifier: Apache-2.0
/*
 * Code with annotations that is built for Racehive but linked without its runtime, and code built
 * without it: both link and run, and the annotations cost nothing but a test.
 */
#include "racehive/annotations.h"

static int object;

RH_IGNORE_FUNCTION static int ignored()
{
    return object;
}

int main()
{
    RH_HAPPENS_BEFORE(&object);
    RH_HAPPENS_AFTER(&object);
    RH_BENIGN_RACE(&object, sizeof object, "it is alone");
    return ignored();
}
