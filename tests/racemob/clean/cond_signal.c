/* SPDX-License-Identifier: Apache-2.0 */
/* A condition variable with signal: the item is filled outside the lock, and given away by what is
 * done under it. */
#include "../program.h"

enum { ITEMS = 20 };

struct item {
    int value;
    struct item *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static struct item items[ITEMS], *queue;

static void *produce(void *arg)
{
    for (int i = 0; i < ITEMS; i++) {
        struct item *item = &items[i];
        item->value = i;
        pthread_mutex_lock(&lock);
        item->next = queue;
        queue = item;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *consume(void *arg)
{
    long sum = 0;
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        while (!queue)
            pthread_cond_wait(&filled, &lock);
        struct item *item = queue;
        queue = item->next;
        pthread_mutex_unlock(&lock);
        sum += item->value;
        item->value = -1;
    }
    must(sum == ITEMS * (ITEMS - 1) / 2);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&b, consume, NULL);
    start(&a, produce, NULL);
    finish(a);
    finish(b);
    return 0;
}
