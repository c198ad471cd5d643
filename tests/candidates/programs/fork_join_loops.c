/* SPDX-License-Identifier: Apache-2.0 */
/* Two rounds of many threads, each joined as a whole before the next begins. */
#include "program.h"

enum { THREADS = 4 };

static int input = 1, total, rounds;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg)
{
    int mine = input; // NORACE
    pthread_mutex_lock(&lock);
    total += mine; // NORACE
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t threads[THREADS], more[THREADS];
    for (int i = 0; i < THREADS; i++)
        start(&threads[i], work, NULL);
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    input = total + 1; // NORACE
    rounds++;          // NORACE
    for (int i = 0; i < THREADS; i++)
        start(&more[i], work, NULL);
    for (int i = 0; i < THREADS; i++)
        finish(more[i]);
    keep((unsigned long)(total + input + rounds)); // NORACE
    return 0;
}
