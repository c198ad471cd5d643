/* SPDX-License-Identifier: Apache-2.0 */
/* A library for traces, and threads that use it while they sort: the pattern of ctrace. Records go
 * into a buffer under a lock; whether to trace, and how much, is asked without one, for speed.
 *
 * The races are ctrace's: the switch and the level are written by one thread and read by all, and
 * the library counts what it left out without a lock. */
#include "kernel.h"

#include <time.h>

#define RECORDS 4096
#define NUMBERS 512

struct record {
    long thread, level, value;
};

static struct record records[RECORDS];
static long record_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int trace_on = 1, trace_level = 1;
static long left_out;
static long rounds, thread_count;
static int working;

static void trace(long thread, int level, long value)
{
    if (!trace_on) // RACE: on
        return;
    if (level > trace_level) { // RACE: level
        left_out++;            // RACE: left out
        return;
    }
    pthread_mutex_lock(&lock);
    records[record_count % RECORDS] = (struct record){thread, level, value};
    record_count++;
    pthread_mutex_unlock(&lock);
}

static void swap(long *a, long *b)
{
    long kept = *a;
    *a = *b;
    *b = kept;
}

static void sort(long self, long *numbers, long count)
{
    trace(self, 2, count);
    if (count < 2)
        return;
    long pivot = numbers[count / 2], low = 0, high = count - 1;
    while (low <= high) {
        while (numbers[low] < pivot)
            low++;
        while (numbers[high] > pivot)
            high--;
        if (low <= high)
            swap(&numbers[low++], &numbers[high--]);
    }
    sort(self, numbers, high + 1);
    sort(self, numbers + low, count - low);
}

static void *work(void *arg)
{
    long self = (long)arg, first, end, numbers[NUMBERS];
    uint64_t seed = (uint64_t)self;
    share(rounds, self, thread_count, &first, &end);
    for (long round = first; round < end; round++) {
        for (int i = 0; i < NUMBERS; i++)
            numbers[i] = (long)(next_random(&seed) >> 1);
        sort(self, numbers, NUMBERS);
        for (int i = 1; i < NUMBERS; i++)
            check(numbers[i - 1] <= numbers[i], "the numbers are not sorted");
        trace(self, 1, numbers[0]);
    }
    __atomic_sub_fetch(&working, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Someone who turns the trace off and on, and up and down, while the others work. */
static void *operate(void *arg)
{
    struct timespec length = {0, 2000000};
    for (int turn = 1; __atomic_load_n(&working, __ATOMIC_ACQUIRE); turn++) {
        trace_level = turn % 8 ? 1 : 2; // RACE: level
        trace_on = turn % 4 != 0;       // RACE: on
        nanosleep(&length, NULL);
    }
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t operator;
    rounds = argument(argc, argv, 1, 1, 10000000);
    thread_count = argument(argc, argv, 2, 1, MOST_THREADS);
    working = (int)thread_count;
    start(&operator, operate, NULL);
    run_threads(thread_count, work);
    finish(operator);
    check(record_count > 0 && left_out >= 0, "nothing was traced");
    for (long i = 0; i < record_count && i < RECORDS; i++)
        check(records[i].thread < thread_count && records[i].level <= 2, "a record is broken");
    return 0;
}
