/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of threads that take requests from a list and answer them: the pattern of Knot and of
 * other servers. A request asks for the checksum of a page that is made from its number.
 *
 * The races are those of servers that want to be quick: the length of the list is read without its
 * lock to decide whether to wait, and the number of busy threads is shown while it changes. */
#include "kernel.h"

#define PAGE    2048
#define PENDING 128

struct request {
    struct request *next;
    long number;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct request *first, **last = &first;
static long waiting, most_busy;
static int busy, closing;
static uint64_t answers;
static long answered;

static uint64_t answer(long number)
{
    unsigned char page[PAGE];
    uint64_t seed = (uint64_t)number, sum = 0;
    for (size_t at = 0; at < PAGE; at += sizeof(seed)) {
        uint64_t word = next_random(&seed);
        memcpy(page + at, &word, sizeof(word));
    }
    for (int i = 0; i < PAGE; i++)
        sum = sum * 31 + page[i];
    return sum;
}

static void submit(long number)
{
    struct request *r = allocate(1, sizeof(*r));
    r->number = number;
    pthread_mutex_lock(&lock);
    *last = r;
    last = &r->next;
    waiting++; // NORACE
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static struct request *take(void)
{
    pthread_mutex_lock(&lock);
    while (!first && !closing)
        pthread_cond_wait(&changed, &lock);
    struct request *r = first;
    if (r) {
        first = r->next;
        if (!first)
            last = &first;
        waiting--; // RACE: taken
        busy++;    // RACE: busy
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return r;
}

static void *serve(void *arg)
{
    struct request *r;
    while ((r = take())) {
        uint64_t sum = answer(r->number);
        free(r);
        pthread_mutex_lock(&lock);
        answers += sum;
        answered++;
        busy--; // RACE: done
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void wait_for_room(void)
{
    if (waiting < PENDING) // RACE: taken
        return;
    pthread_mutex_lock(&lock);
    while (waiting >= PENDING)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST_THREADS];
    long requests = argument(argc, argv, 1, 1, 10000000);
    long count = argument(argc, argv, 2, 1, MOST_THREADS);
    for (long i = 0; i < count; i++)
        start(&threads[i], serve, NULL);
    uint64_t expected = 0;
    for (long i = 0; i < requests; i++) {
        wait_for_room();
        submit(i);
        int now = busy; // RACE: busy, done
        most_busy = now > most_busy ? now : most_busy;
    }
    pthread_mutex_lock(&lock);
    closing = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (long i = 0; i < count; i++)
        finish(threads[i]);
    for (long i = 0; i < requests; i++)
        expected += answer(i);
    check(answered == requests && answers == expected, "the answers are not those of one thread");
    check(most_busy <= count, "more threads were busy than there are");
    return 0;
}
