/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP loops: sums without a lock and in critical sections, of one name and of two, and what comes
 * before and behind a region. */
// NEEDS: -fopenmp
#include "program.h"

static int racy, critical, named, before;

int main(void)
{
    int local = 0;
    before = next(); // NORACE
#pragma omp parallel for
    for (int i = 0; i < 100; i++) {
        racy += next(); // RACE
#pragma omp critical
        critical += next(); // NORACE
        local += before; // RACE: local
    }
    before = 0; // NORACE
#pragma omp parallel
    {
#pragma omp critical(one)
        named += next(); // RACE: names
#pragma omp critical(two)
        named += next(); // RACE: names
    }
    keep((unsigned long)(racy + critical + named + local)); // NORACE
    return 0;
}
// TSAN: cannot run it, the library that runs the loop is not instrumented
