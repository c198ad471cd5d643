/* SPDX-License-Identifier: Apache-2.0
 * A depot with four races and four lookalikes, to show verdicts.
 *
 * Races:
 * - stock: sell() changes it without the lock that deliver() holds.
 * - visits: count_visit() changes it without any lock.
 * - is_open: a plain (volatile) flag that another thread waits for.
 * - till: one thread clears it and then takes and releases the lock; the other takes and releases
 *   the lock and then adds to it. In most runs the lock happens to order the two accesses, which
 *   hides the race from a tool that only watches.
 *
 * Lookalikes, which are no races:
 * - parcel: handed over by a semaphore.
 * - prices: published with release and acquire.
 * - shelves: handed over at a barrier.
 * - box: a heap block that one thread frees and another gets again.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORKERS = 2, ROUNDS = 200, SHELVES = WORKERS };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long stock, visits, till;
static volatile int is_open;

static sem_t parcel_is_there;
static long parcel;
static int prices[4];
static atomic_int has_prices;
static pthread_barrier_t shift;
static long shelves[SHELVES];

/* --- races --- */

static void deliver(long amount)
{
    pthread_mutex_lock(&lock);
    stock += amount;
    pthread_mutex_unlock(&lock);
}

static void sell(void)
{
    stock--;
}

static void count_visit(void)
{
    visits++;
}

static void empty_till(void)
{
    till = 0;
    pthread_mutex_lock(&lock); /* orders this access before count_till by accident */
    pthread_mutex_unlock(&lock);
}

static void count_till(void)
{
    usleep(20000);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    till += 5;
}

/* --- lookalikes --- */

static void send_parcel(void)
{
    parcel = 42;
    sem_post(&parcel_is_there);
}

static long take_parcel(void)
{
    sem_wait(&parcel_is_there);
    return parcel;
}

static void publish_prices(void)
{
    for (int i = 0; i < 4; i++)
        prices[i] = 10 + i;
    atomic_store_explicit(&has_prices, 1, memory_order_release);
}

static int read_price(int item)
{
    while (!atomic_load_explicit(&has_prices, memory_order_acquire))
        usleep(100);
    return prices[item];
}

static long work_in_shifts(int worker)
{
    shelves[worker] = worker + 1;
    pthread_barrier_wait(&shift);
    return shelves[(worker + 1) % SHELVES];
}

static long pack(long amount)
{
    long *box = malloc(sizeof *box * 4);
    if (!box)
        return 0;
    box[1] = amount;
    long packed = box[1];
    free(box);
    return packed;
}

/* --- the day --- */

static void *work(void *arg)
{
    int worker = (int)(long)arg;
    long sum = work_in_shifts(worker) + read_price(worker);
    while (!is_open)
        usleep(100);
    for (int i = 0; i < ROUNDS; i++) {
        deliver(2);
        sell();
        count_visit();
        sum += pack(i);
    }
    if (worker == 0)
        empty_till();
    else
        count_till();
    return (void *)sum;
}

static void *manage(void *arg)
{
    publish_prices();
    send_parcel();
    is_open = 1;
    return arg;
}

int main(void)
{
    pthread_t workers[WORKERS], manager;
    sem_init(&parcel_is_there, 0, 0);
    pthread_barrier_init(&shift, NULL, WORKERS);
    for (long i = 0; i < WORKERS; i++)
        if (pthread_create(&workers[i], NULL, work, (void *)i))
            return 1;
    if (pthread_create(&manager, NULL, manage, NULL))
        return 1;
    long got = take_parcel();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    pthread_join(manager, NULL);
    printf("parcel %ld, stock %ld of %d, visits %ld, till %ld\n", got, stock, WORKERS * ROUNDS,
           visits, till);
    return 0;
}
