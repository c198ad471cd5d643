/* SPDX-License-Identifier: Apache-2.0 */
/* A function that is called in threads of gcc's OpenMP, in a library without bitcode: each has an
 * element of its own, and they count in a critical section. */
// NEEDS: -L$RH_PROCESS_LIBS -Wl,-rpath,$RH_PROCESS_LIBS -lgomp_process
#include "../pool.h"

#include "../../racemob/program.h"

static int visits;

static void count(int index, void *arg)
{
    (void)index, (void)arg;
    visits += 1;
}

static void visit(int index, void *arg)
{
    int *values = arg;
    values[index] += index;
    gomp_in_turn(count, index, arg);
}

int main(void)
{
    static int values[200];
    for (int i = 0; i < 200; i++)
        values[i] = i;
    gomp_for_each(unforeseen(200), visit, values);
    gomp_for_each(unforeseen(200), visit, values);
    keep((unsigned long)(visits + values[3]));
    return 0;
}
