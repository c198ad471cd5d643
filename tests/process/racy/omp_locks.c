/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP locks: one side takes the lock of another account. */
// NEEDS: -fopenmp
#include <omp.h>

#include "../../racemob/program.h"

struct account {
    omp_lock_t lock;
    long balance;
};

static struct account accounts[2];

static void pay(struct account *a, struct account *locked, long amount)
{
    omp_set_lock(&locked->lock);
    a->balance += amount; // RACE
    omp_unset_lock(&locked->lock);
    nap(30);
}

int main(void)
{
    for (int i = 0; i < 2; i++)
        omp_init_lock(&accounts[i].lock);
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 60; i++)
        pay(&accounts[0], &accounts[unforeseen(omp_get_thread_num())], i);
    keep((unsigned long)accounts[0].balance);
    return 0;
}
