/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: all threads block the signals, and one thread takes them with sigwait, so no handler
 * interrupts anything. The state that signals change is guarded by a mutex, and whoever sends one
 * waits with the condition until it was acted on before sending the next. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRITERS   2
#define LINES     20
#define ROTATIONS 3

struct journal {
    pthread_mutex_t lock;
    pthread_cond_t acted;
    char file[32];
    unsigned rotations, dumps, lines_in_file, lines;
    int over;
};

struct control {
    struct journal *journal;
    sigset_t signals;
};

typedef void (*action)(struct journal *);

static void rotate(struct journal *j)
{
    j->rotations++;
    j->lines_in_file = 0;
    snprintf(j->file, sizeof j->file, "journal.%u", j->rotations);
}

static void dump(struct journal *j)
{
    j->dumps++;
}

static void finish(struct journal *j)
{
    j->over = 1;
}

static action action_for(int number)
{
    switch (number) {
    case SIGUSR1:
        return rotate;
    case SIGUSR2:
        return dump;
    default:
        return finish;
    }
}

static void *take_signals(void *arg)
{
    struct control *c = arg;
    for (int over = 0; !over;) {
        int number;
        if (sigwait(&c->signals, &number))
            abort();
        pthread_mutex_lock(&c->journal->lock);
        action_for(number)(c->journal);
        over = c->journal->over;
        pthread_cond_broadcast(&c->journal->acted);
        pthread_mutex_unlock(&c->journal->lock);
    }
    return NULL;
}

static void *write_lines(void *arg)
{
    struct journal *j = arg;
    for (int i = 0; i < LINES; i++) {
        pthread_mutex_lock(&j->lock);
        j->lines_in_file++;
        j->lines++;
        pthread_mutex_unlock(&j->lock);
    }
    return NULL;
}

static void send_and_wait(struct journal *j, pthread_t to, int number, const unsigned *count)
{
    pthread_mutex_lock(&j->lock);
    unsigned before = *count;
    if (pthread_kill(to, number))
        abort();
    while (*count == before)
        pthread_cond_wait(&j->acted, &j->lock);
    pthread_mutex_unlock(&j->lock);
}

int main(void)
{
    struct journal *j = calloc(1, sizeof *j);
    struct control control = {.journal = j};
    pthread_t controller, writers[WRITERS];
    if (!j)
        return 1;
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->acted, NULL);
    strcpy(j->file, "journal");
    sigemptyset(&control.signals);
    sigaddset(&control.signals, SIGUSR1);
    sigaddset(&control.signals, SIGUSR2);
    sigaddset(&control.signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &control.signals, NULL);
    if (pthread_create(&controller, NULL, take_signals, &control))
        abort();
    for (int i = 0; i < WRITERS; i++)
        if (pthread_create(&writers[i], NULL, write_lines, j))
            abort();
    for (int i = 0; i < ROTATIONS; i++) {
        send_and_wait(j, controller, SIGUSR1, &j->rotations);
        send_and_wait(j, controller, SIGUSR2, &j->dumps);
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    pthread_kill(controller, SIGTERM);
    pthread_join(controller, NULL);
    printf("%s: %u lines, %u dumps\n", j->file, j->lines, j->dumps);
    int wrong = j->rotations != ROTATIONS || j->lines != WRITERS * LINES;
    free(j);
    return wrong;
}
