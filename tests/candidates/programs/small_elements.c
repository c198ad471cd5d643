/* SPDX-License-Identifier: Apache-2.0 */
/* Members of array elements smaller than a pointer, one side by a variable index. */
#include "program.h"

struct small {
    short x, y;
};

static struct small table[16];

static NOINLINE void put(int i)
{
    table[i & 15].y = (short)next(); // RACE
}

static void *work(void *arg)
{
    put(*(int *)arg);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int number = (int)next();
    start(&thread, work, &number);
    table[2].y = 3; // RACE
    finish(thread);
    keep((unsigned long)table[2].y); // NORACE
    return 0;
}
