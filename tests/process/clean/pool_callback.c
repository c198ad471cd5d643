/* SPDX-License-Identifier: Apache-2.0 */
/* A function that is called in threads of a library without bitcode counts under that library's
 * lock, which nobody sees; main goes on when the library says that all is done. */
// NEEDS: -L$RH_PROCESS_LIBS -Wl,-rpath,$RH_PROCESS_LIBS -lpool_process
#include "../pool.h"

#include "../../racemob/program.h"

static int visits;

static void visit(int index, void *arg)
{
    int *values = arg;
    values[index] += index;
    pool_lock();
    visits += 1;
    pool_unlock();
}

int main(void)
{
    static int values[200];
    for (int i = 0; i < 200; i++)
        values[i] = i;
    pool_for_each(unforeseen(200), visit, values);
    pool_for_each(unforeseen(200), visit, values);
    keep((unsigned long)(visits + values[3]));
    return 0;
}
