/* SPDX-License-Identifier: Apache-2.0 */
/* One member of every element, by a distance in bytes; and neighbours of a member that is no array.
 */
#include "program.h"

struct vertex {
    float x, y, z;
};

static struct vertex vertices[8];
static struct {
    long head, first, second, third;
} row;
static struct {
    long *head, *first, *second;
} links;
static long target, **middle;
static volatile int stride = sizeof(struct vertex), two = 2, one = 1;

static NOINLINE void fill(void *from, int count)
{
    char *at = from;
    for (int i = 0; i < count; i++, at += stride)
        *(float *)at = 1; // RACE: column
}

static NOINLINE void put(long *member)
{
    member[two] = 2; // RACE: neighbour
}

static NOINLINE void prepare(void)
{
    middle = &links.head;
    middle++;
}

static void *work(void *arg)
{
    fill(&vertices[0].y, 8);
    put(&row.first);
    *links.second = 3; // RACE: pointer
    return arg;
}

int main(void)
{
    pthread_t thread;
    prepare();
    middle[one] = &target;
    start(&thread, work, NULL);
    vertices[5].y = 4; // RACE: column
    row.third = 5;     // RACE: neighbour
    target = 6;        // RACE: pointer
    finish(thread);
    keep((unsigned long)(row.head + target) + (unsigned long)vertices[1].y);
    return 0;
}
