/* SPDX-License-Identifier: Apache-2.0 */
/* An OpenMP loop with a reduction done right and one done wrong. */
// NEEDS: -fopenmp
#include "program.h"

static int racy, critical;

int main(void)
{
#pragma omp parallel for
    for (int i = 0; i < 100; i++) {
        racy += next(); // RACE
#pragma omp critical
        critical += next();
    }
    keep((unsigned long)(racy + critical));
    return 0;
}
// TSAN: cannot run it, the library that runs the loop is not instrumented
