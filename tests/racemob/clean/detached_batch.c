/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: nobody joins the detached threads. Each one writes a result of its own, and afterwards
 * counts itself off under the batch's mutex; main waits with the condition until the count is zero
 * and only then reads. The mutex is static, so nobody destroys it under the last thread's hands. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THUMBNAILS 6
#define SIDE       12

struct thumbnail {
    int number;
    unsigned char pixels[SIDE][SIDE];
    unsigned average;
};

struct batch {
    pthread_mutex_t lock;
    pthread_cond_t empty;
    unsigned running, failed;
};

struct task {
    struct thumbnail *thumbnail;
    void (*render)(struct thumbnail *);
};

static struct batch batch = {.lock = PTHREAD_MUTEX_INITIALIZER, .empty = PTHREAD_COND_INITIALIZER};

static void checkered(struct thumbnail *t)
{
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            t->pixels[y][x] = (x + y + t->number) % 2 ? 200 : 10;
}

static void gradient(struct thumbnail *t)
{
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            t->pixels[y][x] = (unsigned char)(x * 8 + y * 4 + t->number);
}

static unsigned average(const struct thumbnail *t)
{
    unsigned sum = 0;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            sum += t->pixels[y][x];
    return sum / (SIDE * SIDE);
}

static void count_off(struct batch *b, int failed)
{
    pthread_mutex_lock(&b->lock);
    b->failed += failed != 0;
    if (--b->running == 0)
        pthread_cond_signal(&b->empty);
    pthread_mutex_unlock(&b->lock);
}

static void *run(void *arg)
{
    struct task *t = arg;
    t->render(t->thumbnail);
    t->thumbnail->average = average(t->thumbnail);
    int failed = t->thumbnail->average == 0;
    free(t);
    count_off(&batch, failed);
    return NULL;
}

static int start(struct thumbnail *thumbnail)
{
    struct task *t = malloc(sizeof *t);
    pthread_attr_t attributes;
    pthread_t thread;
    if (!t)
        return -1;
    *t = (struct task){thumbnail, thumbnail->number % 2 ? checkered : gradient};
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int status = pthread_create(&thread, &attributes, run, t);
    pthread_attr_destroy(&attributes);
    if (status)
        free(t);
    return status;
}

static unsigned wait_for_all(struct batch *b)
{
    pthread_mutex_lock(&b->lock);
    while (b->running > 0)
        pthread_cond_wait(&b->empty, &b->lock);
    unsigned failed = b->failed;
    pthread_mutex_unlock(&b->lock);
    return failed;
}

int main(void)
{
    struct thumbnail *thumbnails = calloc(THUMBNAILS, sizeof *thumbnails);
    if (!thumbnails)
        return 1;
    pthread_mutex_lock(&batch.lock);
    batch.running = THUMBNAILS;
    pthread_mutex_unlock(&batch.lock);
    for (int i = 0; i < THUMBNAILS; i++) {
        thumbnails[i].number = i;
        if (start(&thumbnails[i]))
            count_off(&batch, 1);
    }
    unsigned failed = wait_for_all(&batch);
    for (int i = 0; i < THUMBNAILS; i++)
        printf("%d: %u\n", thumbnails[i].number, thumbnails[i].average);
    free(thumbnails);
    return failed != 0;
}
