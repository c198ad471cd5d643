/* SPDX-License-Identifier: Apache-2.0 */
/* A function that is called in threads of gcc's OpenMP, in a library without bitcode counts without
 * a lock. */
// NEEDS: -L$RH_PROCESS_LIBS -Wl,-rpath,$RH_PROCESS_LIBS -lgomp_process
#include "../pool.h"

#include "../../racemob/program.h"

static int visits;

static void visit(int index, void *arg)
{
    int *values = arg;
    values[index] += index;
    visits += 1; // RACE
    nap(50);
}

int main(void)
{
    static int values[200];
    gomp_for_each(unforeseen(200), visit, values);
    keep((unsigned long)(visits + values[3]));
    return 0;
}
