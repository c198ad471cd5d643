/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that is cancelled in the midst of its work runs its cleanup handlers; they, and all it
 * had done before, come before the join. */
#include "../program.h"

static long progress, cleaned;
static int stage;

static void clean_inner(void *arg)
{
    (void)arg;
    cleaned = cleaned * 10 + 1;
}

static void clean_outer(void *arg)
{
    (void)arg;
    cleaned = cleaned * 10 + 2;
}

static void *work(void *arg)
{
    pthread_cleanup_push(clean_outer, NULL);
    pthread_cleanup_push(clean_inner, NULL);
    for (;;) {
        progress++;
        tell(&stage, 1);
        nap(500);
        pthread_testcancel();
    }
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return arg;
}

int main(void)
{
    pthread_t thread;
    void *result;
    start(&thread, work, NULL);
    await(&stage, 1);
    pthread_cancel(thread);
    if (unforeseen(1))
        must(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    must(cleaned == 12 && progress > 0);
    cleaned = progress = 0;
    return 0;
}
