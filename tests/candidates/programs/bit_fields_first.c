/* SPDX-License-Identifier: Apache-2.0 */
/* A struct that begins with bit-fields is indexed as if it were an array of smaller structs. */
#include "program.h"

struct pair {
    long left, right;
};

struct header {
    unsigned kind : 4, encoding : 4;
    struct pair pairs[4];
};

static struct header *shared;

static struct pair *pair_at(int i)
{
    return &((struct pair *)shared)[i];
}

static void *work(void *arg)
{
    (void)arg;
    pair_at(next())->right = 1; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    shared = calloc(1, sizeof *shared);
    start(&thread, work, NULL);
    pair_at(next())->right = 2; // RACE
    finish(thread);
    keep((unsigned long)shared->pairs[0].left); // NORACE
    return 0;
}
