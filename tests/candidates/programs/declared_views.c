/* SPDX-License-Identifier: Apache-2.0 */
/* One block without a type, cut into structs of several kinds: what is declared keeps them apart,
 * and yet a struct is found through its header, through what it lies in, through a copy of all its
 * bytes, and behind its end. */
#include "program.h"

struct header {
    struct header *next;
    long flags;
};

struct item {
    struct header header;
    long count;
    char data[];
};

struct inner {
    long low, high;
};

struct session {
    long state;
    struct inner inner;
};

static char *page, *end;
static void *queue[4];
static struct item *saved;

static NOINLINE void *cut(size_t size)
{
    char *piece = end;
    end += size;
    return piece;
}

static NOINLINE void fill(char *to, int value, long length)
{
    for (long i = 0; i < length; i++)
        to[i] = (char)(value + i); // RACE: data
}

static void *work(void *arg)
{
    struct item *item = queue[0];
    struct header *header = queue[0];
    struct inner *inner = queue[2];
    item->count += next();               // RACE: count
    header->flags = next();              // RACE: header
    inner->low = next();                 // RACE: inner
    memcpy(saved, item, sizeof *item);   // RACE: copy
    fill(item->data, next(), next());
    return arg;
}

int main(void)
{
    pthread_t a;
    page = end = malloc((size_t)next() + 4096);
    saved = malloc(sizeof *saved);
    struct item *item = cut(sizeof *item + 64);
    struct session *session = cut(sizeof *session);
    struct session *own = cut(sizeof *own);
    queue[0] = item;
    queue[1] = session;
    queue[2] = &session->inner;
    own->state = 0;
    start(&a, work, NULL);
    item->count = 1;           // RACE: count
    item->header.flags = 2;    // RACE: header
    session->inner.low = 3;    // RACE: inner
    item->header.next = NULL;  // RACE: copy
    item->data[next()] = 4;    // RACE: data
    own->state += next();      // NORACE
    session->inner.high = 5;   // NORACE
    finish(a);
    keep((unsigned long)(item->count + own->state + session->inner.high + saved->count));
    return 0;
}
