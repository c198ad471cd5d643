/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: each of three accounts is touched under a spin lock of another kind only: an
 * atomic_flag set with acquire and cleared with release, a ticket lock whose `serving` is stored
 * with release and awaited with acquire, and a pthread_spinlock_t. Main reads after the joins. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 3
#define ROUNDS  60

struct ticket_lock {
    atomic_uint next, serving;
};

union any_lock {
    atomic_flag flag;
    struct ticket_lock ticket;
    pthread_spinlock_t spin;
};

struct account {
    union any_lock lock;
    void (*acquire)(union any_lock *);
    void (*release)(union any_lock *);
    long balance;
    unsigned long changes;
    struct change {
        int by;
        struct change *before;
    } * history;
};

struct teller {
    struct account *accounts;
    int number;
};

static void flag_acquire(union any_lock *l)
{
    while (atomic_flag_test_and_set_explicit(&l->flag, memory_order_acquire))
        sched_yield();
}

static void flag_release(union any_lock *l)
{
    atomic_flag_clear_explicit(&l->flag, memory_order_release);
}

static void ticket_acquire(union any_lock *l)
{
    unsigned mine = atomic_fetch_add_explicit(&l->ticket.next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&l->ticket.serving, memory_order_acquire) != mine)
        sched_yield();
}

static void ticket_release(union any_lock *l)
{
    unsigned mine = atomic_load_explicit(&l->ticket.serving, memory_order_relaxed);
    atomic_store_explicit(&l->ticket.serving, mine + 1, memory_order_release);
}

static void spin_acquire(union any_lock *l)
{
    while (pthread_spin_trylock(&l->spin))
        sched_yield();
}

static void spin_release(union any_lock *l)
{
    pthread_spin_unlock(&l->spin);
}

static void setup(struct account *a)
{
    atomic_flag_clear(&a[0].lock.flag);
    a[0].acquire = flag_acquire;
    a[0].release = flag_release;
    atomic_init(&a[1].lock.ticket.next, 0);
    atomic_init(&a[1].lock.ticket.serving, 0);
    a[1].acquire = ticket_acquire;
    a[1].release = ticket_release;
    pthread_spin_init(&a[2].lock.spin, PTHREAD_PROCESS_PRIVATE);
    a[2].acquire = spin_acquire;
    a[2].release = spin_release;
}

static void change(struct account *a, int by, struct change *c)
{
    c->by = by;
    a->acquire(&a->lock);
    a->balance += by;
    a->changes++;
    c->before = a->history;
    a->history = c;
    a->release(&a->lock);
}

static void *work(void *arg)
{
    struct teller *t = arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct change *c = malloc(sizeof *c);
        if (!c)
            abort();
        change(&t->accounts[(i + t->number) % 3], i - t->number, c);
    }
    return NULL;
}

int main(void)
{
    struct account *accounts = calloc(3, sizeof *accounts);
    struct teller tellers[THREADS];
    pthread_t threads[THREADS];
    int wrong = 0;
    if (!accounts)
        return 1;
    setup(accounts);
    for (int i = 0; i < THREADS; i++) {
        tellers[i] = (struct teller){accounts, i};
        if (pthread_create(&threads[i], NULL, work, &tellers[i]))
            abort();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; i++) {
        long sum = 0;
        while (accounts[i].history) {
            struct change *c = accounts[i].history;
            accounts[i].history = c->before;
            sum += c->by;
            free(c);
        }
        wrong += sum != accounts[i].balance;
        printf("%ld after %lu changes\n", accounts[i].balance, accounts[i].changes);
    }
    pthread_spin_destroy(&accounts[2].lock.spin);
    free(accounts);
    return wrong;
}
