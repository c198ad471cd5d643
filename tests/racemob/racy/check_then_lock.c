/* SPDX-License-Identifier: Apache-2.0 */
/* The consumer of a job list looks whether there is anything before it bothers to take the lock.
 * It first releases the lock after it has seen a job, so its first look and the first job that is
 * put in are never ordered. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define JOBS 24

struct job {
    void (*run)(struct job *, long *total);
    int number;
    struct job *next;
};

struct queue {
    pthread_mutex_t lock;
    struct job *first, **last;
    int length;
};

static void run_square(struct job *j, long *total)
{
    *total += (long)j->number * j->number;
}

static void run_negate(struct job *j, long *total)
{
    *total -= j->number;
}

static struct queue *queue_new(void)
{
    struct queue *q = calloc(1, sizeof *q);
    if (!q)
        abort();
    pthread_mutex_init(&q->lock, NULL);
    q->last = &q->first;
    return q;
}

static void queue_put(struct queue *q, struct job *j)
{
    j->next = NULL;
    pthread_mutex_lock(&q->lock);
    *q->last = j;
    q->last = &j->next;
    q->length++; // RACE
    pthread_mutex_unlock(&q->lock);
}

static int queue_is_empty(const struct queue *q)
{
    return q->length == 0; // RACE
}

static struct job *queue_get(struct queue *q)
{
    struct job *j = NULL;
    if (queue_is_empty(q))
        return NULL;
    pthread_mutex_lock(&q->lock);
    if (q->first) {
        j = q->first;
        q->first = j->next;
        if (!q->first)
            q->last = &q->first;
        q->length--;
    }
    pthread_mutex_unlock(&q->lock);
    return j;
}

static void *consume(void *arg)
{
    struct queue *q = arg;
    long *total = calloc(1, sizeof *total);
    if (!total)
        abort();
    for (int done = 0; done < JOBS;) {
        struct job *j = queue_get(q);
        if (!j) {
            usleep(200);
            continue;
        }
        j->run(j, total);
        free(j);
        done++;
    }
    return total;
}

static void *produce(void *arg)
{
    struct queue *q = arg;
    for (int i = 0; i < JOBS; i++) {
        struct job *j = malloc(sizeof *j);
        if (!j)
            abort();
        j->number = i;
        j->run = i % 3 ? run_square : run_negate;
        queue_put(q, j);
    }
    return NULL;
}

int main(void)
{
    struct queue *q = queue_new();
    pthread_t producer, consumer;
    void *total;
    if (pthread_create(&consumer, NULL, consume, q) || pthread_create(&producer, NULL, produce, q))
        abort();
    pthread_join(producer, NULL);
    pthread_join(consumer, &total);
    printf("total %ld\n", *(long *)total);
    free(total);
    pthread_mutex_destroy(&q->lock);
    free(q);
    return 0;
}
