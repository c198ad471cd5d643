/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP locks, plain and nested, set and tested; a flag that is passed on by flush and atomics;
 * and a loop whose iterations wait for each other. */
// NEEDS: -fopenmp
#include <omp.h>

#include "../../racemob/program.h"

struct account {
    omp_lock_t lock;
    omp_nest_lock_t nested;
    long balance, touched;
};

static struct account accounts[2];
static int data, ready, wave[40];

static void touch(struct account *a)
{
    omp_set_nest_lock(&a->nested);
    a->touched++;
    omp_unset_nest_lock(&a->nested);
}

static void pay(struct account *a, long amount)
{
    if (amount % 3) {
        omp_set_lock(&a->lock);
    } else {
        while (!omp_test_lock(&a->lock))
            nap(10);
    }
    a->balance += amount;
    omp_unset_lock(&a->lock);
    if (amount % 2)
        omp_set_nest_lock(&a->nested);
    else
        while (!omp_test_nest_lock(&a->nested))
            nap(10);
    touch(a);
    a->touched++;
    omp_unset_nest_lock(&a->nested);
}

static void pass_on(void)
{
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
        data = unforeseen(42);
#pragma omp flush
#pragma omp atomic write
        ready = 1;
    } else if (omp_get_num_threads() > 1) {
        int seen = 0;
        while (!seen) {
#pragma omp atomic read
            seen = ready;
            nap(10);
        }
#pragma omp flush
        keep((unsigned long)data);
    }
}

static void roll(void)
{
#pragma omp parallel for ordered(1) num_threads(3) schedule(static, 1)
    for (int i = 1; i < 40; i++) {
#pragma omp ordered depend(sink : i - 1)
        wave[i] = wave[i - 1] + 1;
#pragma omp ordered depend(source)
    }
}

int main(void)
{
    for (int i = 0; i < 2; i++) {
        omp_init_lock(&accounts[i].lock);
        omp_init_nest_lock(&accounts[i].nested);
    }
#pragma omp parallel num_threads(3)
    for (int i = 0; i < 60; i++)
        pay(&accounts[unforeseen(i % 2)], i);
    pass_on();
    roll();
    keep((unsigned long)(accounts[0].balance + accounts[1].touched + wave[39]));
    return 0;
}
