/* SPDX-License-Identifier: Apache-2.0 */
/* A signal sent with pthread_kill and taken with sigwait hands the data over, there and back.
 * ThreadSanitizer is wrong here: to it signals order nothing. */
#include "../program.h"
#include <signal.h>

static sigset_t wanted;
static pthread_t asker;
static long data;

static void *answer(void *arg)
{
    int number;
    must(sigwait(&wanted, &number) == 0 && number == SIGUSR1);
    must(data == 1);
    data = 2;
    pthread_kill(asker, SIGUSR2);
    return arg;
}

int main(void)
{
    pthread_t thread;
    int number;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR1);
    sigaddset(&wanted, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &wanted, NULL);
    asker = pthread_self();
    start(&thread, answer, NULL);
    data = 1;
    pthread_kill(thread, SIGUSR1);
    must(sigwait(&wanted, &number) == 0 && number == SIGUSR2);
    must(data == 2);
    data = 3;
    finish(thread);
    return 0;
}
// OPTIONS: -D_GNU_SOURCE
// TSAN: wrong, to it signals order nothing
