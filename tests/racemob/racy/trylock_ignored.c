/* SPDX-License-Identifier: Apache-2.0 */
/* The result of trylock is not looked at: a thread goes on without the lock that main holds. */
#include "../program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long data;
static int held, tried;

static void *work(void *arg)
{
    await(&held, 1);
    int status = pthread_mutex_trylock(&lock);
    data = next(); // RACE
    tell(&tried, 1);
    if (!status)
        pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t thread;
    start(&thread, work, NULL);
    pthread_mutex_lock(&lock);
    tell(&held, 1);
    data += next(); // RACE
    await(&tried, 1);
    pthread_mutex_unlock(&lock);
    finish(thread);
    keep((unsigned long)data); // NORACE
    return 0;
}
