/* SPDX-License-Identifier: Apache-2.0 */
/* Each object carries the lock that guards it. */
#include "program.h"

enum { ACCOUNTS = 3 };

struct account {
    pthread_mutex_t lock;
    long balance;
    struct account *next;
};

static struct account *accounts;

static NOINLINE void deposit(struct account *a, long amount)
{
    pthread_mutex_lock(&a->lock);
    a->balance += amount; // NORACE
    pthread_mutex_unlock(&a->lock);
}

static NOINLINE void move_one(struct account *from, struct account *to)
{
    pthread_mutex_lock(&from->lock);
    from->balance--; // NORACE
    pthread_mutex_unlock(&from->lock);
    deposit(to, 1);
}

static void *work(void *arg)
{
    for (struct account *a = accounts; a; a = a->next) { // NORACE
        deposit(a, next());
        move_one(a, accounts);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < ACCOUNTS; i++) {
        struct account *a = malloc(sizeof *a);
        if (!a)
            return 1;
        pthread_mutex_init(&a->lock, NULL);
        a->balance = next(); // NORACE
        a->next = accounts;  // NORACE
        accounts = a;        // NORACE
    }
    for (int i = 0; i < 2; i++)
        start(&threads[i], work, NULL);
    for (int i = 0; i < 2; i++)
        finish(threads[i]);
    keep((unsigned long)accounts->balance); // NORACE
    return 0;
}
