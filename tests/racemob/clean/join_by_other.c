/* SPDX-License-Identifier: Apache-2.0 */
/* A thread is joined by its sibling, not by its creator; main learns of it through the sibling. */
#include "../program.h"

static long data;

static void *write_it(void *arg)
{
    data = 3;
    return arg;
}

static void *join_it(void *arg)
{
    finish(*(pthread_t *)arg);
    must(data == 3);
    data = 4;
    return NULL;
}

int main(void)
{
    pthread_t writer, joiner;
    start(&writer, write_it, NULL);
    start(&joiner, join_it, &writer);
    finish(joiner);
    must(data == 4);
    return 0;
}
