/* SPDX-License-Identifier: Apache-2.0 */
/* pthread_once: what the function writes is before the return of every call, also of those that
 * came while it ran or long after. */
#include "../program.h"

enum { THREADS = 3 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int *table;
static int stage;

static void make_table(void)
{
    table = malloc(4 * sizeof *table);
    must(table != NULL);
    for (int i = 0; i < 4; i++)
        table[i] = i * i;
}

static void *use(void *arg)
{
    if (arg)
        await(&stage, 1);
    pthread_once(&once, make_table);
    for (int i = 0; i < 4; i++)
        must(table[i] == i * i);
    tell(&stage, 1);
    return arg;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        start(&threads[i], use, i == THREADS - 1 ? &stage : NULL);
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    free(table);
    return 0;
}
