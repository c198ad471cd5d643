/* SPDX-License-Identifier: Apache-2.0 */
/* The destructor of a thread-specific value touches shared data after the thread's function has
 * returned; the join comes after it all the same. C11's tss_t alike. */
#include "../program.h"
#include <threads.h>

static pthread_key_t key;
static tss_t other_key;
static long total;

static void add(void *value)
{
    nap(1000);
    total += *(long *)value;
    free(value);
}

static long *number(long value)
{
    long *made = malloc(sizeof *made);
    must(made != NULL);
    *made = value;
    return made;
}

static void *work(void *arg)
{
    pthread_setspecific(key, number(1));
    tss_set(other_key, number(10));
    return arg;
}

int main(void)
{
    pthread_key_create(&key, add);
    tss_create(&other_key, add);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        start(&thread, work, NULL);
        if (unforeseen(1))
            finish(thread);
        must(total == 11 * (i + 1));
    }
    return 0;
}
