/* SPDX-License-Identifier: Apache-2.0 */
/* The object is found from a pointer to one of its members. */
#include "program.h"
#include <stddef.h>

struct link {
    struct link *next;
};

struct object {
    int value;
    int locked;
    pthread_mutex_t lock;
    struct link link;
};

static struct link *first;

static struct object *object_of(struct link *link)
{
    return (struct object *)(void *)((char *)link - offsetof(struct object, link));
}

static void *work(void *arg)
{
    for (struct link *l = first; l; l = l->next) {
        struct object *o = object_of(l);
        o->value += next(); // RACE
        pthread_mutex_lock(&o->lock);
        o->locked += next(); // NORACE
        pthread_mutex_unlock(&o->lock);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    for (int i = 0; i < 2; i++) {
        struct object *o = malloc(sizeof *o);
        if (!o)
            return 1;
        o->value = next();  // NORACE
        o->locked = next(); // NORACE
        pthread_mutex_init(&o->lock, NULL);
        o->link.next = first; // NORACE
        first = &o->link;     // NORACE
    }
    start(&a, work, NULL);
    start(&b, work, NULL);
    finish(a);
    finish(b);
    return 0;
}
