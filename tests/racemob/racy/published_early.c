/* SPDX-License-Identifier: Apache-2.0 */
/* A block is published, with all care, before its last member is filled. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

struct node {
    int before, after;
};

static _Atomic(struct node *) published;

static void *publish(void *arg)
{
    struct node *node = malloc(sizeof *node);
    must(node != NULL);
    node->before = next();                                         // NORACE
    atomic_store_explicit(&published, node, memory_order_release); // NORACE
    node->after = next();                                          // RACE
    return arg;
}

static void *use(void *arg)
{
    struct node *node;
    while (!(node = atomic_load_explicit(&published, memory_order_acquire))) // NORACE
        sched_yield();
    keep((unsigned long)node->before); // NORACE
    keep((unsigned long)node->after);  // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&b, use, NULL);
    start(&a, publish, NULL);
    finish(a);
    finish(b);
    free(published);
    return 0;
}
