/* SPDX-License-Identifier: Apache-2.0 */
/* A race that only one argument leads to; without it the same accesses are under the lock. */
#include "../program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counter;
static int fast;

static void *count(void *arg)
{
    if (fast) {            // NORACE
        counter += next(); // RACE
        return arg;
    }
    pthread_mutex_lock(&lock);
    counter += next(); // NORACE
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    fast = argc > 1 && !strcmp(argv[1], "--fast"); // NORACE
    start(&a, count, NULL);
    start(&b, count, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)counter); // NORACE
    return 0;
}
// ARGS: --fast
// ARGS: --slow ->
