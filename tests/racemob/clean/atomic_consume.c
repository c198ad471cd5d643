/* SPDX-License-Identifier: Apache-2.0 */
/* A pointer published with release and followed through a consume load: the dependency orders what
 * it points to, and compilers make an acquire load of it. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

struct node {
    int value;
};

static struct node nodes[2];
static _Atomic(struct node *) published;

static void *publish(void *arg)
{
    struct node *node = &nodes[unforeseen(1)];
    node->value = 8;
    atomic_store_explicit(&published, node, memory_order_release);
    return arg;
}

static void *follow(void *arg)
{
    struct node *node;
    while (!(node = atomic_load_explicit(&published, memory_order_consume)))
        sched_yield();
    must(node->value == 8);
    node->value = 0;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&b, follow, NULL);
    start(&a, publish, NULL);
    finish(a);
    finish(b);
    return 0;
}
