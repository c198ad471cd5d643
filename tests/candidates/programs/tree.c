/* SPDX-License-Identifier: Apache-2.0 */
/* A tree walked by recursion: sums under a lock, marks without. */
#include "program.h"

struct node {
    int value, mark;
    struct node *left, *right;
};

static struct node *root;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE struct node *grow(int depth)
{
    if (!depth)
        return NULL;
    struct node *n = malloc(sizeof *n);
    if (!n)
        abort();
    n->value = next(); // NORACE
    n->mark = 0;       // NORACE
    n->left = grow(depth - 1);
    n->right = grow(depth - 1);
    return n;
}

static NOINLINE void add(struct node *n)
{
    if (!n)
        return;
    n->value += next(); // NORACE
    add(n->left);
    add(n->right);
}

static NOINLINE void mark(struct node *n)
{
    if (!n)
        return;
    n->mark = next(); // RACE
    mark(n->left);
    mark(n->right);
}

static void *work(void *arg)
{
    pthread_mutex_lock(&lock);
    add(root);
    pthread_mutex_unlock(&lock);
    mark(root);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    root = grow(3); // NORACE
    start(&a, work, NULL);
    start(&b, work, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(root->value + root->mark)); // NORACE
    return 0;
}
