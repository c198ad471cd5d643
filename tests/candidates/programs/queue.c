/* SPDX-License-Identifier: Apache-2.0 */
/* Items handed from one thread to another by a queue; the sender touches one after sending it. */
#include "program.h"

struct item {
    int value;
    long count;
    struct item *next;
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct item *first;
    int length;
};

static struct queue *queue;

static void *send(void *arg)
{
    for (int i = 0; i < 4; i++) {
        struct item *item = malloc(sizeof *item);
        if (!item)
            abort();
        item->value = next();
        pthread_mutex_lock(&queue->lock);
        item->next = queue->first;
        queue->first = item; // NORACE
        queue->length++;     // NORACE
        pthread_cond_signal(&queue->filled);
        pthread_mutex_unlock(&queue->lock);
        item->count = next(); // RACE
    }
    return arg;
}

static void *receive(void *arg)
{
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&queue->lock);
        while (!queue->first) // NORACE
            pthread_cond_wait(&queue->filled, &queue->lock);
        struct item *item = queue->first; // NORACE
        queue->first = item->next;
        queue->length--; // NORACE
        pthread_mutex_unlock(&queue->lock);
        item->value += 3;
        item->count += 3; // RACE
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    queue = malloc(sizeof *queue); // NORACE
    if (!queue)
        return 1;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->filled, NULL);
    queue->first = NULL; // NORACE
    queue->length = 0;   // NORACE
    start(&a, send, NULL);
    start(&b, receive, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)queue->length); // NORACE
    return 0;
}
