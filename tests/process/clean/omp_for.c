/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP loops done right: reductions of few and of many values, critical sections, atomics,
 * barriers between phases, single with copyprivate, ordered, sections, nested regions, and what
 * comes before and behind regions. */
// NEEDS: -fopenmp
#include "../../racemob/program.h"

enum { COUNT = 96, THREADS = 4 };

static int values[COUNT], doubled[COUNT], order[COUNT], ordered_count, highest, steps;

static void phases(void)
{
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < COUNT; i++)
            values[i] = unforeseen(i * 7 % 31);
#pragma omp for schedule(guided)
        for (int i = 0; i < COUNT; i++)
            doubled[i] = values[COUNT - 1 - i] * 2;
#pragma omp master
        steps++;
#pragma omp barrier
        int seen = steps;
#pragma omp critical
        highest += seen;
#pragma omp barrier
#pragma omp single
        steps = values[3] + highest;
        keep((unsigned long)steps);
    }
}

static long reductions(void)
{
    long sum = 0, product = 1, low = 1000, high = 0;
    int parts[16] = {0};
#pragma omp parallel for reduction(+ : sum) num_threads(THREADS)
    for (int i = 0; i < COUNT; i++)
        sum += doubled[i];
#pragma omp parallel for reduction(* : product) reduction(min : low) reduction(max : high)             \
    num_threads(THREADS)
    for (int i = 0; i < COUNT; i++) {
        product = product * (values[i] | 1) & 0xffff;
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for reduction(+ : parts[:16])
        for (int i = 0; i < COUNT; i++)
            parts[i % 16] += values[i];
        keep((unsigned long)parts[3]); /* the loop's barrier is behind the reduction */
    }
    return sum + product + low + high + parts[5];
}

static int one_by_one(void)
{
    int copied = 0, total = 0;
#pragma omp parallel for ordered schedule(dynamic) num_threads(THREADS)
    for (int i = 0; i < COUNT; i++) {
        int value = values[i] * 3;
#pragma omp ordered
        order[ordered_count++] = value;
    }
#pragma omp parallel private(copied) num_threads(THREADS)
    {
#pragma omp single copyprivate(copied)
        copied = order[4];
#pragma omp atomic
        total += copied;
    }
    return total;
}

static int apart(void)
{
    int left = 0, right = 0;
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        for (int i = 0; i < 20; i++)
            left += values[i];
#pragma omp section
        for (int i = 0; i < 20; i++)
            right += values[i];
    }
    return left + right;
}

static int nested(void)
{
    int sums[2] = {0, 0};
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 2; i++) {
        int own = 0;
#pragma omp parallel for num_threads(2)
        for (int k = 0; k < 20; k++) {
#pragma omp critical(inner)
            own += values[k];
        }
        sums[i] = own;
    }
    return sums[0] + sums[1];
}

int main(void)
{
    long result = 0;
    for (int round = 0; round < 3; round++) {
        ordered_count = 0;
        phases();
        result += reductions() + one_by_one() + apart() + nested();
        values[round] = (int)result;
    }
    keep((unsigned long)result);
    return 0;
}
