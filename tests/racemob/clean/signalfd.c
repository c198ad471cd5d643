/* SPDX-License-Identifier: Apache-2.0 */
/* A signal sent to a thread with pthread_kill and read by it from a signalfd hands the data
 * over. ThreadSanitizer is wrong here: to it signals order nothing. */
#include "../program.h"
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int descriptor;
static long data;

static void *receive(void *arg)
{
    struct signalfd_siginfo info;
    must(read(descriptor, &info, sizeof info) == sizeof info);
    must(info.ssi_signo == SIGUSR1 && data == 1);
    data = 2;
    return arg;
}

int main(void)
{
    pthread_t thread;
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &wanted, NULL);
    descriptor = signalfd(-1, &wanted, 0);
    must(descriptor >= 0);
    start(&thread, receive, NULL);
    data = 1;
    pthread_kill(thread, SIGUSR1);
    finish(thread);
    must(data == 2);
    close(descriptor);
    return 0;
}
// OPTIONS: -D_GNU_SOURCE
// TSAN: wrong, to it signals order nothing
