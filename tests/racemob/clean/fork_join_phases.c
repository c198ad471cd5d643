/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of one phase are joined before those of the next are started; main works in between. */
#include "../program.h"

enum { THREADS = 3, PHASES = 4 };

static long cells[THREADS];

static void *work(void *arg)
{
    int me = (int)(long)arg;
    cells[me] += me + 1;
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int phase = 0; phase < PHASES; phase++) {
        for (int i = 0; i < THREADS; i++)
            start(&threads[i], work, (void *)(long)((i + phase) % THREADS));
        for (int i = 0; i < THREADS; i++)
            finish(threads[i]);
        for (int i = 0; i < THREADS; i++)
            cells[i]++;
    }
    for (int i = 0; i < THREADS; i++)
        must(cells[i] == PHASES * (i + 2));
    return 0;
}
