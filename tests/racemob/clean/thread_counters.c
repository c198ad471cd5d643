/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: counters live in a block that belongs to one thread, found by a pthread key. The key's
 * destructor runs in that thread, adds the block to the totals under their lock and hangs the block
 * into a list under the same lock. Main reads totals and list after the joins. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4

enum counter { READS, WRITES, ERRORS, COUNTERS };

struct counters {
    unsigned long value[COUNTERS];
    int owner;
    struct counters *next;
};

struct totals {
    pthread_mutex_t lock;
    unsigned long value[COUNTERS];
    struct counters *returned;
    int threads;
};

struct job {
    int number;
    void (*operation)(int step);
};

static struct totals totals = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_key_t key;
static _Thread_local int my_number;

static void hand_back(void *value)
{
    struct counters *c = value;
    pthread_mutex_lock(&totals.lock);
    for (int i = 0; i < COUNTERS; i++)
        totals.value[i] += c->value[i];
    totals.threads++;
    c->next = totals.returned;
    totals.returned = c;
    pthread_mutex_unlock(&totals.lock);
}

static struct counters *mine(void)
{
    struct counters *c = pthread_getspecific(key);
    if (!c) {
        c = calloc(1, sizeof *c);
        if (!c || pthread_setspecific(key, c))
            abort();
        c->owner = my_number;
    }
    return c;
}

static void count(enum counter what, unsigned long by)
{
    mine()->value[what] += by;
}

static void read_file(int step)
{
    count(READS, 1);
    if (step % 7 == 0)
        count(ERRORS, 1);
}

static void copy_file(int step)
{
    count(READS, 1);
    count(WRITES, (unsigned long)step % 3);
}

static void *work(void *arg)
{
    struct job *job = arg;
    my_number = job->number;
    for (int step = 0; step < 50; step++)
        job->operation(step);
    return NULL;
}

int main(void)
{
    struct job jobs[THREADS];
    pthread_t threads[THREADS];
    unsigned owners = 0;
    if (pthread_key_create(&key, hand_back))
        return 1;
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){i, i % 2 ? copy_file : read_file};
        if (pthread_create(&threads[i], NULL, work, &jobs[i]))
            abort();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    while (totals.returned) {
        struct counters *c = totals.returned;
        totals.returned = c->next;
        owners |= 1u << c->owner;
        free(c);
    }
    printf("%d threads (%x): %lu reads, %lu writes, %lu errors\n", totals.threads, owners,
           totals.value[READS], totals.value[WRITES], totals.value[ERRORS]);
    pthread_key_delete(key);
    return totals.value[READS] != THREADS * 50;
}
