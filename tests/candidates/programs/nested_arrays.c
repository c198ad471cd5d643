/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays within the elements of an array: members stay apart. */
#include "program.h"

enum { WORKERS = 4, CLASSES = 8 };

struct statistics {
    long hits, misses;
};

struct worker {
    long id;
    struct statistics classes[CLASSES];
    long *shared;
    long done;
};

static struct worker *workers;

static void *work(void *arg)
{
    struct worker *w = &workers[next() % WORKERS];
    w->classes[next() % CLASSES].hits += next(); // RACE: hits
    w->done = next();                            // RACE: done
    *w->shared += next();                        // RACE: shared
    return arg;
}

static void *watch(void *arg)
{
    unsigned long sum = 0;
    for (int i = 0; i < WORKERS; i++)
        for (int c = 0; c < CLASSES; c++)
            sum += (unsigned long)workers[i].classes[c].misses; // NORACE
    keep(sum + (unsigned long)workers[next() % WORKERS].id);    // NORACE
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    static long shared;
    workers = calloc(WORKERS, sizeof *workers);
    for (int i = 0; i < WORKERS; i++) {
        workers[i].id = i;
        workers[i].shared = &shared;
    }
    start(&a, work, NULL);
    start(&b, work, NULL);
    start(&c, watch, NULL);
    finish(a);
    finish(b);
    finish(c);
    keep((unsigned long)shared);
    free(workers);
    return 0;
}
