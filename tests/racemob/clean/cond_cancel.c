/* SPDX-License-Identifier: Apache-2.0 */
/* A thread is cancelled while it waits for a condition: it takes the mutex again before its cleanup
 * handler runs, so the handler's accesses are under the lock. */
#include "../program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int waiting, cleaned;
static long counter;

static void clean_up(void *arg)
{
    (void)arg;
    counter++;
    cleaned = 1;
    pthread_mutex_unlock(&lock);
}

static void *wait_for_ever(void *arg)
{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(clean_up, NULL);
    waiting = 1;
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(0);
    return arg;
}

int main(void)
{
    pthread_t thread;
    start(&thread, wait_for_ever, NULL);
    for (int seen = 0; !seen; nap(200)) {
        pthread_mutex_lock(&lock);
        seen = waiting;
        pthread_mutex_unlock(&lock);
    }
    pthread_cancel(thread);
    for (int seen = 0; !seen; nap(200)) {
        pthread_mutex_lock(&lock);
        counter++;
        seen = cleaned;
        pthread_mutex_unlock(&lock);
    }
    finish(thread);
    must(counter >= 2);
    return 0;
}
