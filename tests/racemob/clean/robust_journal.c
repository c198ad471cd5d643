/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: the ledger is touched under a robust mutex only. Clerks that crash end while they own
 * it; the system gives it up for them, and the next owner is told by EOWNERDEAD, repairs what they
 * left half done and makes the mutex consistent. All of it is ordered by the mutex alone. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CLERKS 5
#define POSTS  10

struct ledger {
    pthread_mutex_t lock;
    long debit, credit;
    long pending; /* what was debited and not yet credited */
    unsigned repairs, posted;
};

struct clerk {
    struct ledger *ledger;
    int crashes_after;
};

static void ledger_init(struct ledger *l)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) ||
        pthread_mutex_init(&l->lock, &attributes))
        abort();
    pthread_mutexattr_destroy(&attributes);
}

static void repair(struct ledger *l)
{
    l->credit += l->pending;
    l->pending = 0;
    l->repairs++;
}

static void ledger_lock(struct ledger *l)
{
    switch (pthread_mutex_lock(&l->lock)) {
    case 0:
        return;
    case EOWNERDEAD:
        repair(l);
        if (pthread_mutex_consistent(&l->lock) == 0)
            return;
        /* fall through */
    default:
        abort();
    }
}

static int post(struct ledger *l, long amount, int crash)
{
    ledger_lock(l);
    l->debit += amount;
    l->pending = amount;
    if (crash)
        return -1;
    l->credit += amount;
    l->pending = 0;
    l->posted++;
    pthread_mutex_unlock(&l->lock);
    return 0;
}

static void *keep_books(void *arg)
{
    struct clerk *c = arg;
    for (int i = 0; i < POSTS; i++)
        if (post(c->ledger, 5 + i, i == c->crashes_after))
            pthread_exit(NULL);
    return NULL;
}

int main(void)
{
    struct ledger *ledger = calloc(1, sizeof *ledger);
    struct clerk clerks[CLERKS];
    pthread_t threads[CLERKS];
    if (!ledger)
        return 1;
    ledger_init(ledger);
    for (int i = 0; i < CLERKS; i++) {
        clerks[i] = (struct clerk){ledger, i < 3 ? 2 + i : -1};
        if (pthread_create(&threads[i], NULL, keep_books, &clerks[i]))
            abort();
    }
    for (int i = 0; i < CLERKS; i++)
        pthread_join(threads[i], NULL);
    ledger_lock(ledger);
    long debit = ledger->debit, credit = ledger->credit;
    printf("%ld debit, %ld credit, %u posts, %u repairs\n", debit, credit, ledger->posted,
           ledger->repairs);
    pthread_mutex_unlock(&ledger->lock);
    pthread_mutex_destroy(&ledger->lock);
    free(ledger);
    return debit != credit;
}
// TSAN: wrong, it does not see the kernel give the lock up
