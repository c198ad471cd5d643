/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP tasks: two count in one variable, and one is read before anyone has waited for it. */
// NEEDS: -fopenmp
#include "../../racemob/program.h"

static int visits, early;

static void visit(int depth)
{
    visits += depth; // RACE: visits
    nap(50);
}

int main(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
    {
        for (int i = 0; i < 40; i++) {
#pragma omp task firstprivate(i)
            visit(unforeseen(i));
        }
#pragma omp taskwait
        for (int i = 0; i < 40; i++) {
#pragma omp task shared(early)
            {
                early = 1; // RACE: early, early twice
                nap(50);
            }
            keep((unsigned long)early); // RACE: early
            nap(50);
        }
    }
    keep((unsigned long)(visits + early));
    return 0;
}
