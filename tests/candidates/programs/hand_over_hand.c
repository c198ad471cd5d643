/* SPDX-License-Identifier: Apache-2.0 */
/* A list locked hand over hand, and one look at it without locks. */
#include "program.h"

struct node {
    pthread_mutex_t lock;
    int value;
    struct node *next;
};

static struct node *head;

static void *add_to_all(void *arg)
{
    struct node *n = head;
    pthread_mutex_lock(&n->lock);
    for (;;) {
        n->value += next(); // RACE
        struct node *following = n->next;
        if (!following)
            break;
        pthread_mutex_lock(&following->lock);
        pthread_mutex_unlock(&n->lock);
        n = following;
    }
    pthread_mutex_unlock(&n->lock);
    return arg;
}

static void *peek(void *arg)
{
    keep((unsigned long)head->value); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    for (int i = 0; i < 3; i++) {
        struct node *n = malloc(sizeof *n);
        if (!n)
            return 1;
        pthread_mutex_init(&n->lock, NULL);
        n->value = next(); // NORACE
        n->next = head;    // NORACE
        head = n;          // NORACE
    }
    start(&a, add_to_all, NULL);
    start(&b, peek, NULL);
    finish(a);
    finish(b);
    return 0;
}
