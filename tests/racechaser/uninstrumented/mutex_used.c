/* SPDX-License-Identifier: Apache-2.0 */
/* No race: whoever uses a mutex reads it (so that its end races with a use), and the library changes
 * its bytes when another thread uses it. */
#include "subject.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int over;

static void *reset(void *arg)
{
    pthread_mutex_destroy(&lock);
    return arg;
}

/* Long enough that others come while it is paused before it locks. */
static void *look(void *arg)
{
    for (int i = 0; i < LOOKS; i++) {
        pthread_mutex_lock(&lock);
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        rest();
    }
    tell(&over, 1);
    return arg;
}

static void *use(void *arg)
{
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        pthread_mutex_lock(&lock);
        pthread_cond_timedwait(&changed, &lock, &until);
        rest();
        pthread_mutex_unlock(&lock);
        rest();
    }
    return arg;
}

int main(void)
{
    return run_beside(look, use, reset);
}
