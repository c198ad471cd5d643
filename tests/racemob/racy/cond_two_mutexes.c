/* SPDX-License-Identifier: Apache-2.0 */
/* A job broadcasts its progress with a condition variable. The log waits for it with the job's
 * mutex; the window waits for it with its own, so what it reads is not guarded. As the window can
 * miss a broadcast, it waits with a limit and looks again. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define STEPS 20

struct job {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int percent;
    unsigned long checksum;
};

struct window {
    pthread_mutex_t lock;
    struct job *job;
    int width, drawn;
};

struct log {
    struct job *job;
    int lines;
};

static void set_percent(struct job *j, int percent)
{
    pthread_mutex_lock(&j->lock);
    j->checksum = j->checksum * 131 + (unsigned long)percent;
    j->percent = percent; // RACE
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->lock);
}

static void *work(void *arg)
{
    struct job *j = arg;
    for (int i = 1; i <= STEPS; i++) {
        usleep(100);
        set_percent(j, i * 100 / STEPS);
    }
    return NULL;
}

static struct timespec soon(long nanoseconds)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += nanoseconds;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static int percent_shown(const struct window *w)
{
    return w->job->percent; // RACE
}

static void *draw(void *arg)
{
    struct window *w = arg;
    int percent = -1;
    pthread_mutex_lock(&w->lock);
    while (percent < 100) {
        int now = percent_shown(w);
        if (now == percent) {
            struct timespec limit = soon(2000000);
            pthread_cond_timedwait(&w->job->changed, &w->lock, &limit);
            continue;
        }
        percent = now;
        w->width = percent * 4 / 5;
        w->drawn++;
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void *write_log(void *arg)
{
    struct log *l = arg;
    int seen = 0;
    pthread_mutex_lock(&l->job->lock);
    while (seen < 100) {
        while (l->job->percent == seen)
            pthread_cond_wait(&l->job->changed, &l->job->lock);
        seen = l->job->percent;
        l->lines++;
    }
    pthread_mutex_unlock(&l->job->lock);
    return NULL;
}

int main(void)
{
    struct job *job = calloc(1, sizeof *job);
    struct window window = {.lock = PTHREAD_MUTEX_INITIALIZER, .job = job};
    struct log log = {job, 0};
    pthread_t threads[3];
    if (!job)
        return 1;
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->changed, NULL);
    if (pthread_create(&threads[0], NULL, draw, &window) ||
        pthread_create(&threads[1], NULL, write_log, &log) ||
        pthread_create(&threads[2], NULL, work, job))
        abort();
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d lines, drawn %d times, width %d, checksum %lx\n", log.lines, window.drawn,
           window.width, job->checksum);
    pthread_cond_destroy(&job->changed);
    pthread_mutex_destroy(&job->lock);
    free(job);
    return 0;
}
