/* SPDX-License-Identifier: Apache-2.0 */
/* A list walked hand over hand, each node with a lock of its own: the next is taken before the last
 * is given up. */
#include "../program.h"

enum { NODES = 4, ROUNDS = 10 };

static struct node {
    pthread_mutex_t *lock;
    long value;
    struct node *next;
} nodes[NODES];
static pthread_mutex_t locks[NODES];

static void *walk(void *arg)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct node *node = &nodes[0];
        pthread_mutex_lock(node->lock);
        while (node->next) {
            node->value++;
            struct node *after = node->next;
            pthread_mutex_lock(after->lock);
            after->value++;
            pthread_mutex_unlock(node->lock);
            node = after;
        }
        pthread_mutex_unlock(node->lock);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    for (int i = 0; i < NODES; i++) {
        pthread_mutex_init(&locks[i], NULL);
        nodes[i].lock = &locks[unforeseen(i)];
        nodes[i].next = i + 1 < NODES ? &nodes[i + 1] : NULL;
    }
    start(&a, walk, NULL);
    start(&b, walk, NULL);
    finish(a);
    finish(b);
    must(nodes[0].value == 2 * ROUNDS && nodes[1].value == 4 * ROUNDS);
    return 0;
}
