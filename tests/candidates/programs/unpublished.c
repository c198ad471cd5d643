/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes are filled before they are put into the list, under its lock. */
#include "program.h"

struct node {
    int value;
    struct node *next;
};

static struct node *head;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *push(void *arg)
{
    struct node *n = malloc(sizeof *n);
    if (!n)
        abort();
    n->value = next(); // NORACE
    pthread_mutex_lock(&lock);
    n->next = head; // NORACE
    head = n;       // NORACE
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *sum(void *arg)
{
    unsigned long total = 0;
    pthread_mutex_lock(&lock);
    for (struct node *n = head; n; n = n->next) // NORACE
        total += (unsigned long)n->value;       // NORACE
    pthread_mutex_unlock(&lock);
    keep(total);
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    start(&a, push, NULL);
    start(&b, push, NULL);
    start(&c, sum, NULL);
    finish(a);
    finish(b);
    finish(c);
    return 0;
}
