/* SPDX-License-Identifier: Apache-2.0 */
/* A detached thread says that it is done with a relaxed store, which orders nothing. */
#include "../program.h"

static long result;
static int done;

static void *work(void *arg)
{
    result = next(); // RACE
    tell(&done, 1);
    return arg;
}

int main(void)
{
    pthread_t thread;
    start(&thread, work, NULL);
    pthread_detach(thread);
    await(&done, 1);
    keep((unsigned long)result); // RACE
    return 0;
}
// APART
