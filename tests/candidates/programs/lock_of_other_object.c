/* SPDX-License-Identifier: Apache-2.0 */
/* The lock of one object is held while another is changed: the racy twin of lock_per_object.c. */
#include "program.h"

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account *one, *two;

static NOINLINE void move_one(struct account *from, struct account *to)
{
    pthread_mutex_lock(&from->lock);
    from->balance--;       // RACE
    to->balance += next(); // RACE
    pthread_mutex_unlock(&from->lock);
}

static void *forth(void *arg)
{
    move_one(one, two);
    return arg;
}

static void *back(void *arg)
{
    move_one(two, one);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    one = calloc(1, sizeof *one);
    two = calloc(1, sizeof *two);
    if (!one || !two)
        return 1;
    pthread_mutex_init(&one->lock, NULL);
    pthread_mutex_init(&two->lock, NULL);
    start(&a, forth, NULL);
    start(&b, back, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(one->balance + two->balance)); // NORACE
    return 0;
}
