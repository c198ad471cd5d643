/* SPDX-License-Identifier: Apache-2.0 */
/* An index less one: from the first element it would lead to a member before the array, where
 * something else lies. */
#include "program.h"

struct link {
    long *to, count;
};

struct entry {
    long number;
    struct link links[2];
    long sum;
};

static struct box {
    struct link before[5];
    struct entry entries[3];
    long after;
} box;

static struct entry *middle;
static long target;
static volatile int two = 2, three = 3;

static NOINLINE void prepare(void)
{
    middle = &box.entries[1];
    box.entries[2].links[0].to = &target;
}

static void *work(void *arg)
{
    *middle[two - 1].links[0].to = 1;        // RACE: middle
    *box.entries[three - 1].links[0].to = 3; // RACE: whole
    return arg;
}

int main(void)
{
    pthread_t thread;
    prepare();
    start(&thread, work, NULL);
    target = 2; // RACE: middle, whole
    finish(thread);
    keep((unsigned long)(target + box.before[1].count + box.after));
    return 0;
}
