/* SPDX-License-Identifier: Apache-2.0 */
/* Producers and consumers share one bounded buffer of small messages: the pattern of bbuf.
 *
 * The races are bbuf's: a consumer looks at the number of messages before it takes the lock, and
 * the producers note in a global, without any lock, which message was the last. */
#include "kernel.h"

#define SLOTS 256

struct message {
    long number;
    uint64_t body;
};

static struct message slots[SLOTS];
static long head, tail; /* messages taken and put so far */
static long last_number;
static int open_producers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static long message_count, thread_count;
static uint64_t put_sum, taken_sum;
static long taken_count, idle_count;

static uint64_t body_of(long number)
{
    uint64_t seed = (uint64_t)number;
    return next_random(&seed);
}

static void put(long number)
{
    last_number = number; // RACE: last
    pthread_mutex_lock(&lock);
    while (tail - head == SLOTS)
        pthread_cond_wait(&not_full, &lock);
    slots[tail % SLOTS] = (struct message){number, body_of(number)};
    tail++; // RACE: tail
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

/* False when there will be no more. */
static int get(struct message *m, long *idle)
{
    *idle += tail == head; // RACE: tail, head
    pthread_mutex_lock(&lock);
    while (tail == head && open_producers)
        pthread_cond_wait(&not_empty, &lock);
    int any = tail != head;
    if (any) {
        *m = slots[head % SLOTS];
        head++; // RACE: head
        pthread_cond_signal(&not_full);
    }
    pthread_mutex_unlock(&lock);
    return any;
}

static void *produce(void *arg)
{
    long first, end;
    uint64_t sum = 0;
    share(message_count, (long)arg, thread_count, &first, &end);
    for (long i = first; i < end; i++) {
        put(i);
        sum += body_of(i);
    }
    pthread_mutex_lock(&lock);
    put_sum += sum;
    open_producers--;
    pthread_cond_broadcast(&not_empty);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *consume(void *arg)
{
    struct message m;
    uint64_t sum = 0;
    long count = 0, idle = 0;
    while (get(&m, &idle)) {
        check(m.body == body_of(m.number), "a message was mixed up");
        sum += m.body;
        count++;
    }
    pthread_mutex_lock(&lock);
    taken_sum += sum;
    taken_count += count;
    idle_count += idle;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t producers[MOST_THREADS], consumers[MOST_THREADS];
    message_count = argument(argc, argv, 1, 1, 1000000000);
    thread_count = argument(argc, argv, 2, 1, MOST_THREADS);
    open_producers = (int)thread_count;
    for (long i = 0; i < thread_count; i++) {
        start(&producers[i], produce, (void *)i);
        start(&consumers[i], consume, NULL);
    }
    for (long i = 0; i < thread_count; i++) {
        finish(producers[i]);
        finish(consumers[i]);
    }
    check(taken_count == message_count && taken_sum == put_sum, "a message was lost");
    check(idle_count <= message_count + thread_count, "more messages were waited for than came");
    check(last_number >= 0 && last_number < message_count, "no message was the last");
    return 0;
}
