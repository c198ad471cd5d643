/* SPDX-License-Identifier: Apache-2.0 */
/* A sender hands a message to the delivery thread and afterwards still looks at its state, to tell
 * how many were delivered "at once". The messages are freed by main, after both threads. After the
 * last message the sender releases nothing any more. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES 16

enum state { FRESH, QUEUED, DELIVERED };

struct message {
    unsigned id;
    char to[20];
    enum state state;
    struct message *next;
};

struct outbox {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct message *first, **last;
};

struct post_office {
    struct outbox out;
    struct message *all[MESSAGES];
    unsigned at_once;
    size_t letters;
};

static void outbox_put(struct outbox *o, struct message *m)
{
    pthread_mutex_lock(&o->lock);
    m->state = QUEUED;
    m->next = NULL;
    *o->last = m;
    o->last = &m->next;
    pthread_cond_signal(&o->filled);
    pthread_mutex_unlock(&o->lock);
}

static struct message *outbox_get(struct outbox *o)
{
    pthread_mutex_lock(&o->lock);
    while (!o->first)
        pthread_cond_wait(&o->filled, &o->lock);
    struct message *m = o->first;
    o->first = m->next;
    if (!o->first)
        o->last = &o->first;
    pthread_mutex_unlock(&o->lock);
    return m;
}

static void deliver(struct post_office *office, struct message *m)
{
    office->letters += strlen(m->to) + m->id % 3;
    m->state = DELIVERED; // RACE
}

static int was_delivered(const struct message *m)
{
    return m->state == DELIVERED; // RACE
}

static void *delivery(void *arg)
{
    struct post_office *office = arg;
    for (int i = 0; i < MESSAGES; i++)
        deliver(office, outbox_get(&office->out));
    return NULL;
}

static void *sender(void *arg)
{
    struct post_office *office = arg;
    for (unsigned i = 0; i < MESSAGES; i++) {
        struct message *m = office->all[i];
        m->id = i;
        snprintf(m->to, sizeof m->to, "user%u@host", i * i);
        outbox_put(&office->out, m);
        if (was_delivered(m))
            office->at_once++;
    }
    return NULL;
}

int main(void)
{
    struct post_office *office = calloc(1, sizeof *office);
    pthread_t threads[2];
    if (!office)
        return 1;
    pthread_mutex_init(&office->out.lock, NULL);
    pthread_cond_init(&office->out.filled, NULL);
    office->out.last = &office->out.first;
    for (int i = 0; i < MESSAGES; i++)
        if (!(office->all[i] = calloc(1, sizeof(struct message))))
            abort();
    if (pthread_create(&threads[0], NULL, delivery, office) ||
        pthread_create(&threads[1], NULL, sender, office))
        abort();
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%zu letters, %u messages at once\n", office->letters, office->at_once);
    for (int i = 0; i < MESSAGES; i++)
        free(office->all[i]);
    pthread_cond_destroy(&office->out.filled);
    pthread_mutex_destroy(&office->out.lock);
    free(office);
    return 0;
}
