/* SPDX-License-Identifier: Apache-2.0 */
/* An event hub calls the callback that is registered; main registers another one while events come
 * in. Function and context are read and written without a lock. Both callbacks take the same kind
 * of context and lock it, so that any mixture of the two does no harm. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EVENTS 40

struct tally {
    pthread_mutex_t lock;
    const char *title;
    long count, sum;
};

typedef void (*event_fn)(struct tally *, int event);

struct hub {
    event_fn call;
    int priority;
    char name[20];
    struct tally *context;
    unsigned dispatched;
};

static void count_event(struct tally *t, int event)
{
    (void)event;
    pthread_mutex_lock(&t->lock);
    t->count++;
    pthread_mutex_unlock(&t->lock);
}

static void add_event(struct tally *t, int event)
{
    pthread_mutex_lock(&t->lock);
    t->sum += event;
    t->count++;
    pthread_mutex_unlock(&t->lock);
}

static struct tally *new_tally(const char *title)
{
    struct tally *t = calloc(1, sizeof *t);
    if (!t)
        abort();
    pthread_mutex_init(&t->lock, NULL);
    t->title = title;
    return t;
}

static void hub_register(struct hub *h, event_fn call, struct tally *context)
{
    h->context = context; // RACE: context
    h->call = call;       // RACE: function
}

static void dispatch(struct hub *h, int event)
{
    event_fn call = h->call;            // RACE: function
    struct tally *context = h->context; // RACE: context
    call(context, event);
    h->dispatched++;
}

static void *run_hub(void *arg)
{
    struct hub *h = arg;
    for (int i = 0; i < EVENTS; i++) {
        dispatch(h, i);
        usleep(100);
    }
    return NULL;
}

static void free_tally(struct tally *t)
{
    printf("%s: %ld events, sum %ld\n", t->title, t->count, t->sum);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

int main(void)
{
    struct tally *before = new_tally("before"), *after = new_tally("after");
    struct hub *hub = calloc(1, sizeof *hub);
    pthread_t thread;
    if (!hub)
        return 1;
    hub_register(hub, count_event, before);
    if (pthread_create(&thread, NULL, run_hub, hub))
        abort();
    usleep(1000);
    hub_register(hub, add_event, after);
    pthread_join(thread, NULL);
    printf("%u dispatched\n", hub->dispatched);
    free_tally(before);
    free_tally(after);
    free(hub);
    return 0;
}
