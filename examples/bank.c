/* SPDX-License-Identifier: Apache-2.0
 * A bank with a data race. Two threads work on the same account. Deposits are made under the
 * account's lock, but the fee is taken without it, so now and then an update is lost.
 */
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 100000 };

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

__attribute__((noinline)) static void deposit(struct account *account, long amount)
{
    pthread_mutex_lock(&account->lock);
    account->balance += amount;
    pthread_mutex_unlock(&account->lock);
}

__attribute__((noinline)) static void take_fee(struct account *account)
{
    account->balance -= 1; /* the race: no lock is held */
}

static void *work(void *arg)
{
    struct account *account = arg;
    for (int i = 0; i < ROUNDS; i++) {
        deposit(account, 2);
        take_fee(account);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, &shared))
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("balance %ld, expected %d\n", shared.balance, 2 * ROUNDS);
    return 0;
}
