/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: every wait has a limit, and one that ran into it is tried again, so nothing is touched
 * without what was waited for: the tray under its mutex (timedlock, cond_timedwait), free places in
 * it by a semaphore (sem_timedwait), the paper size under a rwlock (timedrdlock, timedwrlock). */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PLACES  3
#define CLIENTS 2
#define SHEETS  12

struct sheet {
    int client, page;
};

struct printer {
    sem_t places;
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct sheet tray[PLACES];
    unsigned first, count;
    pthread_rwlock_t format_lock;
    int width, height;
    unsigned retries;
};

struct client {
    struct printer *printer;
    int number;
};

static struct timespec in_milliseconds(long n)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += n * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static unsigned lock_tray(struct printer *p)
{
    unsigned retries = 0;
    for (;;) {
        struct timespec limit = in_milliseconds(5);
        int status = pthread_mutex_timedlock(&p->lock, &limit);
        if (status == 0)
            return retries;
        if (status != ETIMEDOUT)
            abort();
        retries++;
    }
}

static void wait_for_place(struct printer *p)
{
    for (;;) {
        struct timespec limit = in_milliseconds(3);
        if (sem_timedwait(&p->places, &limit) == 0)
            return;
        if (errno != ETIMEDOUT && errno != EINTR)
            abort();
    }
}

static void set_format(struct printer *p, int width)
{
    struct timespec limit = in_milliseconds(2);
    while (pthread_rwlock_timedwrlock(&p->format_lock, &limit))
        limit = in_milliseconds(2);
    p->width = width;
    p->height = 2 * width;
    pthread_rwlock_unlock(&p->format_lock);
}

static int area(struct printer *p)
{
    struct timespec limit = in_milliseconds(2);
    while (pthread_rwlock_timedrdlock(&p->format_lock, &limit))
        limit = in_milliseconds(2);
    int result = p->height == 2 * p->width ? p->width * p->height : -1;
    pthread_rwlock_unlock(&p->format_lock);
    return result;
}

static void *send_sheets(void *arg)
{
    struct client *c = arg;
    struct printer *p = c->printer;
    for (int page = 0; page < SHEETS; page++) {
        if (page % 4 == 0)
            set_format(p, 10 + page + c->number);
        wait_for_place(p);
        unsigned retries = lock_tray(p);
        p->tray[(p->first + p->count++) % PLACES] = (struct sheet){c->number, page};
        p->retries += retries;
        pthread_cond_signal(&p->filled);
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

static void *print_sheets(void *arg)
{
    struct printer *p = arg;
    long wrong = 0;
    int next_page[CLIENTS] = {0};
    for (int i = 0; i < CLIENTS * SHEETS; i++) {
        lock_tray(p);
        while (p->count == 0) {
            struct timespec limit = in_milliseconds(4);
            pthread_cond_timedwait(&p->filled, &p->lock, &limit);
        }
        struct sheet s = p->tray[p->first];
        p->first = (p->first + 1) % PLACES;
        p->count--;
        pthread_mutex_unlock(&p->lock);
        sem_post(&p->places);
        wrong += s.page != next_page[s.client]++ || area(p) < 0;
    }
    return (void *)wrong;
}

int main(void)
{
    struct printer *p = calloc(1, sizeof *p);
    struct client clients[CLIENTS];
    pthread_t threads[CLIENTS], printing;
    void *wrong;
    if (!p)
        return 1;
    sem_init(&p->places, 0, PLACES);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->filled, NULL);
    pthread_rwlock_init(&p->format_lock, NULL);
    if (pthread_create(&printing, NULL, print_sheets, p))
        abort();
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){p, i};
        if (pthread_create(&threads[i], NULL, send_sheets, &clients[i]))
            abort();
    }
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(printing, &wrong);
    printf("%d by %d, %ld wrong\n", p->width, p->height, (long)wrong);
    free(p);
    return wrong != NULL;
}
