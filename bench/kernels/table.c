/* SPDX-License-Identifier: Apache-2.0 */
/* A table of items that is mostly read, with a lock for readers and writers in each of its parts,
 * and a clock that one thread sets and all others read: the pattern of memcached.
 *
 * The race is memcached's own: the time is a plain global. */
#include "kernel.h"

#include <time.h>

#define PARTS 16
#define ITEMS 256 /* of a part */
#define WORDS 64

struct item {
    uint64_t key;
    long touched;
    uint64_t value[WORDS];
};

struct part {
    pthread_rwlock_t lock;
    struct item items[ITEMS];
};

static struct part parts[PARTS];
static long now, operations, thread_count;
static int working;
static pthread_mutex_t sum_lock = PTHREAD_MUTEX_INITIALIZER;
static long total_reads, total_writes, total_stale;

static int holds_value_of(uint64_t key, const uint64_t *value)
{
    int same = 1;
    for (int i = 0; i < WORDS; i++)
        same &= value[i] == next_random(&key);
    return same;
}

static void make_value(uint64_t key, uint64_t *value)
{
    for (int i = 0; i < WORDS; i++)
        value[i] = next_random(&key);
}

static struct part *part_of(uint64_t key)
{
    return &parts[key % PARTS];
}

static struct item *slot_of(struct part *p, uint64_t key)
{
    return &p->items[key / PARTS % ITEMS];
}

static int read_item(uint64_t key, long *stale)
{
    struct part *p = part_of(key);
    pthread_rwlock_rdlock(&p->lock);
    const struct item *i = slot_of(p, key);
    int found = i->key == key;
    int right = found && holds_value_of(key, i->value);
    *stale += found && i->touched + 2 < now; // RACE: read clock
    pthread_rwlock_unlock(&p->lock);
    check(right == found, "a value of another key");
    return found;
}

static void write_item(uint64_t key)
{
    struct part *p = part_of(key);
    pthread_rwlock_wrlock(&p->lock);
    struct item *i = slot_of(p, key);
    i->key = key;
    make_value(key, i->value);
    i->touched = now; // RACE: write clock
    pthread_rwlock_unlock(&p->lock);
}

static void *work(void *arg)
{
    uint64_t seed = (uint64_t)arg;
    long reads = 0, writes = 0, stale = 0, first, end;
    share(operations, (long)arg, thread_count, &first, &end);
    for (long i = first; i < end; i++) {
        uint64_t key = 1 + next_random(&seed) % (PARTS * ITEMS);
        if (i % 16 && read_item(key, &stale)) {
            reads++;
        } else {
            write_item(key);
            writes++;
        }
    }
    pthread_mutex_lock(&sum_lock);
    total_reads += reads;
    total_writes += writes;
    total_stale += stale;
    pthread_mutex_unlock(&sum_lock);
    __atomic_sub_fetch(&working, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void *tick(void *arg)
{
    struct timespec length = {0, 1000000};
    while (__atomic_load_n(&working, __ATOMIC_ACQUIRE)) {
        now++; // RACE: read clock, write clock
        nanosleep(&length, NULL);
    }
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t clock;
    operations = argument(argc, argv, 1, 1, 1000000000);
    thread_count = argument(argc, argv, 2, 1, MOST_THREADS);
    for (int i = 0; i < PARTS; i++)
        pthread_rwlock_init(&parts[i].lock, NULL);
    working = (int)thread_count;
    start(&clock, tick, NULL);
    run_threads(thread_count, work);
    finish(clock);
    check(total_reads + total_writes == operations, "an operation was lost");
    check(total_writes >= operations / 16 && now > 0 && total_stale >= 0, "nothing was written");
    return 0;
}
