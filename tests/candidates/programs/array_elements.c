/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread writes its own element, which an analysis need not see; the sum is shared. */
#include "program.h"

enum { THREADS = 3 };

static int parts[THREADS], sum;

static void *work(void *arg)
{
    int me = *(int *)arg;
    parts[me] = next();
    sum += parts[me]; // RACE
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        start(&threads[i], work, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    keep((unsigned long)(sum + parts[1])); // NORACE
    return 0;
}
