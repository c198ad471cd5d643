/* SPDX-License-Identifier: Apache-2.0 */
/* A signal with a value, sent with pthread_sigqueue and taken with sigwaitinfo and sigtimedwait:
 * the value is the number of a block that was filled before. ThreadSanitizer is wrong here: to
 * it signals order nothing. */
#include "../program.h"
#include <signal.h>

static sigset_t wanted;
static pthread_t asker;
static int blocks[2];

static void *answer(void *arg)
{
    siginfo_t info;
    must(sigwaitinfo(&wanted, &info) == SIGUSR1);
    int number = info.si_value.sival_int;
    must(blocks[number] == 1);
    blocks[number] = 2;
    must(pthread_sigqueue(asker, SIGUSR2, info.si_value) == 0);
    return arg;
}

int main(void)
{
    pthread_t thread;
    siginfo_t info;
    union sigval value;
    struct timespec long_time = {20, 0};
    int number = unforeseen(1);
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR1);
    sigaddset(&wanted, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &wanted, NULL);
    asker = pthread_self();
    start(&thread, answer, NULL);
    blocks[number] = 1;
    value.sival_int = number;
    must(pthread_sigqueue(thread, SIGUSR1, value) == 0);
    must(sigtimedwait(&wanted, &info, &long_time) == SIGUSR2);
    must(blocks[number] == 2);
    blocks[number] = 3;
    finish(thread);
    return 0;
}
// OPTIONS: -D_GNU_SOURCE
// TSAN: wrong, to it signals order nothing
