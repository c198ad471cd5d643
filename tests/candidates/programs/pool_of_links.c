/* SPDX-License-Identifier: Apache-2.0 */
/* A pool that declares its blocks as links of its free list and hands them out for anything. */
#include "program.h"

struct link {
    struct link *next;
};

struct item {
    int count, limit;
};

static struct link *available;

static NOINLINE void refill(size_t size)
{
    struct link *link = malloc(size);
    link->next = available;
    available = link;
}

static NOINLINE void *take(void)
{
    struct link *link = available;
    available = link->next;
    return link;
}

static void *work(void *arg)
{
    struct item *item = arg;
    item->count += next(); // RACE: itself
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    refill((size_t)next() + sizeof(struct item));
    struct item *item = take();
    item->limit = next();
    start(&a, work, item);
    start(&b, work, item);
    finish(a);
    finish(b);
    keep((unsigned long)item->count);
    return 0;
}
