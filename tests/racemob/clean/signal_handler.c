/* SPDX-License-Identifier: Apache-2.0 */
/* A handler that pthread_kill makes run in another thread comes after what the sender did, and
 * the sender goes on when the handler's release store tells it to. ThreadSanitizer is wrong
 * here: to it signals order nothing. */
#include "../program.h"
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

static atomic_int handled;
static long data;

static void on_signal(int number)
{
    (void)number;
    data = data == 1 ? 2 : 0;
    atomic_store_explicit(&handled, 1, memory_order_release);
}

static void *sleep_on(void *arg)
{
    while (!atomic_load_explicit(&handled, memory_order_acquire))
        nap(200);
    return arg;
}

int main(void)
{
    pthread_t thread;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, NULL);
    start(&thread, sleep_on, NULL);
    data = 1;
    pthread_kill(thread, SIGUSR1);
    while (!atomic_load_explicit(&handled, memory_order_acquire))
        sched_yield();
    must(data == 2);
    data = 3;
    finish(thread);
    return 0;
}
// OPTIONS: -D_GNU_SOURCE
// TSAN: wrong, to it signals order nothing
