/* SPDX-License-Identifier: Apache-2.0 */
/* A signal handler, run by the main thread in the midst of its own work, counts requests for a
 * progress report in a plain int. The printer's thread looks at that count. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 20

struct progress {
    pthread_mutex_t lock;
    long done, total;
};

struct printer {
    struct progress *progress;
    char line[64];
    int printed;
};

static int reports_wanted;

static void on_usr1(int number)
{
    (void)number;
    reports_wanted++; // RACE
}

static int wanted(void)
{
    return reports_wanted; // RACE
}

static void describe(struct printer *p)
{
    pthread_mutex_lock(&p->progress->lock);
    long done = p->progress->done, total = p->progress->total;
    pthread_mutex_unlock(&p->progress->lock);
    snprintf(p->line, sizeof p->line, "%ld of %ld", done, total);
    p->printed++;
}

static void *print_when_asked(void *arg)
{
    struct printer *p = arg;
    int seen = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int now = wanted();
        if (now != seen)
            describe(p);
        seen = now;
        usleep(200);
    }
    return NULL;
}

static long compress(long block)
{
    unsigned long x = (unsigned long)block + 1;
    for (int i = 0; i < 1000; i++)
        x = x * 6364136223846793005ul + 1442695040888963407ul;
    return (long)(x >> 60);
}

int main(void)
{
    struct progress *progress = calloc(1, sizeof *progress);
    struct printer *printer = calloc(1, sizeof *printer);
    struct sigaction action;
    pthread_t thread;
    sigset_t usr1;
    long size = 0;
    if (!progress || !printer)
        return 1;
    pthread_mutex_init(&progress->lock, NULL);
    progress->total = 40;
    printer->progress = progress;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_usr1;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, NULL);

    /* The printer inherits a mask that keeps the signal for the main thread. */
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
    if (pthread_create(&thread, NULL, print_when_asked, printer))
        abort();
    pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);

    raise(SIGUSR1);
    for (long block = 0; block < 40; block++) {
        size += compress(block);
        pthread_mutex_lock(&progress->lock);
        progress->done++;
        pthread_mutex_unlock(&progress->lock);
        if (block == 20 || block == 39)
            raise(SIGUSR1);
    }
    pthread_join(thread, NULL);
    printf("size %ld, %d reports, last \"%s\"\n", size, printer->printed, printer->line);
    free(printer);
    free(progress);
    return 0;
}
