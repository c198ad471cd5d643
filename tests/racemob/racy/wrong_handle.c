/* SPDX-License-Identifier: Apache-2.0 */
/* The handle of the first thread is overwritten by the second's; the join that seems to be for the
 * first waits for the second. */
#include "../program.h"

static long first, second;
static int ended;

static void *write_first(void *arg)
{
    first = next(); // RACE
    tell(&ended, 1);
    return arg;
}

static void *write_second(void *arg)
{
    second = next(); // NORACE
    return arg;
}

int main(void)
{
    pthread_t thread;
    start(&thread, write_first, NULL);
    pthread_detach(thread);
    start(&thread, write_second, NULL);
    finish(thread);
    keep((unsigned long)second); // NORACE
    keep((unsigned long)first);  // RACE
    await(&ended, 1);
    return 0;
}
