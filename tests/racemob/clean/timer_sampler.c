/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: the timer's notifications run in threads of their own and touch nothing but the
 * sampler after they have taken its mutex; workers and main do the same. The sampler is static, so
 * a notification that still runs when main ends finds it, and main reads it under the mutex. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICKS   4
#define WORKERS 2

struct sampler {
    pthread_mutex_t lock;
    pthread_cond_t ticked;
    unsigned long work_done;
    unsigned ticks;
    unsigned long samples[TICKS];
    int stopping;
};

static struct sampler sampler = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .ticked = PTHREAD_COND_INITIALIZER,
};

static void on_tick(union sigval value)
{
    struct sampler *s = value.sival_ptr;
    pthread_mutex_lock(&s->lock);
    if (s->ticks < TICKS) {
        s->samples[s->ticks++] = s->work_done;
        pthread_cond_broadcast(&s->ticked);
    }
    pthread_mutex_unlock(&s->lock);
}

static timer_t start_timer(struct sampler *s, long milliseconds)
{
    struct sigevent event;
    struct itimerspec times;
    timer_t timer;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = on_tick;
    event.sigev_value.sival_ptr = s;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer))
        abort();
    memset(&times, 0, sizeof times);
    times.it_value.tv_nsec = times.it_interval.tv_nsec = milliseconds * 1000000;
    if (timer_settime(timer, 0, &times, NULL))
        abort();
    return timer;
}

static unsigned long hash_something(unsigned long seed)
{
    for (int i = 0; i < 2000; i++)
        seed = (seed ^ seed >> 13) * 0x9e3779b97f4a7c15ul;
    return seed;
}

static int work_once(struct sampler *s)
{
    struct timespec pause = {0, 500000};
    pthread_mutex_lock(&s->lock);
    s->work_done++;
    int stop = s->stopping;
    pthread_mutex_unlock(&s->lock);
    nanosleep(&pause, NULL);
    return !stop;
}

static void *work(void *arg)
{
    unsigned long value = 1;
    do
        value = hash_something(value);
    while (work_once(arg));
    return (void *)value;
}

int main(void)
{
    struct sampler *s = &sampler;
    pthread_t threads[WORKERS];
    unsigned ordered = 1;
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&threads[i], NULL, work, s))
            abort();
    timer_t timer = start_timer(s, 6);
    pthread_mutex_lock(&s->lock);
    while (s->ticks < TICKS)
        pthread_cond_wait(&s->ticked, &s->lock);
    s->stopping = 1;
    pthread_mutex_unlock(&s->lock);
    timer_delete(timer);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_lock(&s->lock);
    for (int i = 1; i < TICKS; i++)
        ordered &= s->samples[i - 1] <= s->samples[i];
    printf("%u ticks, last sample %s\n", s->ticks, s->samples[TICKS - 1] ? "busy" : "idle");
    pthread_mutex_unlock(&s->lock);
    return !ordered;
}
// TSAN: cannot, the library starts threads without its knowledge
