/* SPDX-License-Identifier: Apache-2.0 */
/* All threads get the same argument, which main changes for each. */
#include "program.h"

enum { THREADS = 3 };

struct arg {
    int number;
    int constant;
};

static void *work(void *raw)
{
    struct arg *arg = raw;
    keep((unsigned long)arg->number);   // RACE
    keep((unsigned long)arg->constant); // NORACE
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct arg *arg = malloc(sizeof *arg);
    if (!arg)
        return 1;
    arg->constant = next(); // NORACE
    for (int i = 0; i < THREADS; i++) {
        arg->number = next(); // RACE
        start(&threads[i], work, arg);
    }
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    free(arg);
    return 0;
}
