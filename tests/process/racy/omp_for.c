/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP loops: a sum that should have been a reduction, a maximum in two critical sections of
 * different names, a local of main's, and a region that goes on behind `nowait`. */
// NEEDS: -fopenmp
#include "../../racemob/program.h"

enum { COUNT = 120 };

static int values[COUNT], sum, highest;

int main(void)
{
    int last = 0, ahead = 0;
    for (int i = 0; i < COUNT; i++)
        values[i] = unforeseen(i * 7 % 31);
#pragma omp parallel for num_threads(3)
    for (int i = 0; i < COUNT; i++) {
        sum += values[i]; // RACE: sum
        nap(20);
    }
#pragma omp parallel for schedule(dynamic) num_threads(3)
    for (int i = 0; i < COUNT; i++) {
        if (i % 2) {
#pragma omp critical(odd)
            highest = values[i] > highest ? values[i] : highest + 1; // RACE: maximum
        } else {
#pragma omp critical(even)
            highest = values[i] > highest ? values[i] : highest + 1; // RACE: maximum
        }
        nap(20);
    }
#pragma omp parallel num_threads(3)
    {
#pragma omp for nowait
        for (int i = 0; i < COUNT; i++) {
            nap(20);
            if (i == COUNT - 1)
                last = values[i]; // RACE: nowait
        }
        for (int i = 0; i < 20; i++) {
            nap(20);
            keep((unsigned long)last); // RACE: nowait
        }
#pragma omp single nowait
        ahead = 1;
    }
    keep((unsigned long)(sum + highest + ahead));
    return 0;
}
