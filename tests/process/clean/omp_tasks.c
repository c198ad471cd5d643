/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP tasks done right: a tree of tasks with taskwait, groups, dependences, tasks that a barrier
 * ends, blocks of tasks that are used again, and tasks that are not deferred. */
// NEEDS: -fopenmp
#include "../../racemob/program.h"

static int cells[64], chain, last;

static int add_up(int from, int to)
{
    int left = 0, right = 0;
    if (to - from < 4) {
        for (int i = from; i < to; i++)
            left += cells[i];
        return left;
    }
    int middle = (from + to) / 2;
#pragma omp task shared(left)
    left = add_up(from, middle);
#pragma omp task shared(right)
    right = add_up(middle, to);
#pragma omp taskwait
    return left + right;
}

static void fill(void)
{
    for (int i = 0; i < 64; i++) {
#pragma omp task firstprivate(i)
        cells[i] = unforeseen(i);
    }
}

static void follow_chain(void)
{
    for (int i = 0; i < 12; i++) {
#pragma omp task depend(inout : chain) firstprivate(i)
        chain = chain * 3 + i;
    }
#pragma omp task depend(in : chain) depend(out : last)
    last = chain;
#pragma omp taskwait depend(in : last)
    keep((unsigned long)last);
}

int main(void)
{
    int sum = 0;
    for (int round = 0; round < 4; round++) {
#pragma omp parallel num_threads(4)
        {
#pragma omp single
            fill();
            /* The barrier of single has ended the tasks. */
#pragma omp for reduction(+ : sum)
            for (int i = 0; i < 64; i++)
                sum += cells[63 - i];
#pragma omp single
            {
                sum += add_up(0, 64);
#pragma omp taskgroup
                {
                    fill();
                }
                sum += cells[5];
                follow_chain();
#pragma omp task if (round > 99) shared(sum)
                sum += cells[6];
                sum++;
            }
        }
        sum += cells[round] + chain;
    }
    keep((unsigned long)sum);
    return 0;
}
