/* SPDX-License-Identifier: Apache-2.0 */
/* Which plain accesses of C are sites, and how they are called. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    int value;
    char name[16];
};

int counter;
static struct node *list;
static const int table[4] = {1, 2, 3, 4};
static __thread int own;
struct {
    int a, b;
} pair;

__attribute__((noinline)) static void push(struct node *n)
{
    n->next = list; // SITE write n->next; SITE read list
    list = n;       // SITE write list
}

__attribute__((noinline)) static int sum(struct node *from)
{
    int total = 0;
    for (struct node *n = from; n; n = n->next) // SITE read n->next
        total += n->value;                      // SITE read n->value
    return total;
}

__attribute__((noinline)) static int look_up(unsigned i)
{
    return table[i & 3]; // NOSITE
}

__attribute__((noinline)) static void touch_own(int v)
{
    own += v; // NOSITE
}

__attribute__((noinline)) static int local_only(int v)
{
    volatile int slot = v; // NOSITE
    return slot + 1;       // NOSITE
}

__attribute__((noinline)) static void count(void)
{
    counter++; // SITE read counter; SITE write counter
}

__attribute__((noinline)) static void set_pair(void)
{
    pair.a = pair.b + 1; // SITE write pair.a; SITE read pair.b
}

__attribute__((noinline)) static void copy_name(struct node *to, const struct node *from)
{
    memcpy(to->name, from->name, sizeof to->name); // SITE write; SITE read
}

__attribute__((noinline)) static void clear(void *bytes, size_t size)
{
    memset(bytes, 0, size); // SITE write
}

static void *worker(void *arg)
{
    int *shared = arg;
    *shared = 3; // SITE write
    count();
    return NULL;
}

int main(void)
{
    struct node *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    int escapes = 0;
    pthread_t thread;
    if (pthread_create(&thread, NULL, worker, &escapes))
        return 1;
    pthread_join(thread, NULL);
    a->value = 4; // SITE write a->value
    push(a);
    push(b);
    copy_name(b, a);
    clear(b->name, (size_t)escapes);
    touch_own(look_up(1));
    set_pair();
    int total = sum(list) + escapes + local_only(2);
    return total == 10 && counter == 1 && own == 2 ? 0 : 1;
}
