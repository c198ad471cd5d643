/* SPDX-License-Identifier: Apache-2.0 */
/* Functions registered with atexit run in the thread that calls exit, after the threads that it has
 * joined. */
#include "../program.h"

static long data;

static void at_exit(void)
{
    data++;
    keep((unsigned long)data);
}

static void *work(void *arg)
{
    data++;
    return arg;
}

int main(void)
{
    pthread_t thread;
    must(atexit(at_exit) == 0);
    start(&thread, work, NULL);
    if (unforeseen(1))
        finish(thread);
    return 0;
}
