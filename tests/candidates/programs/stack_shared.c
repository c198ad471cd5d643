/* SPDX-License-Identifier: Apache-2.0 */
/* Main's local variable is given to a thread and touched by both. */
#include "program.h"

static void *work(void *arg)
{
    int *p = arg;
    p[0] += next(); // RACE
    p[1] += next(); // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int local[2] = {next(), next()};
    start(&thread, work, local);
    local[0] += 5; // RACE
    finish(thread);
    keep((unsigned long)(local[0] + local[1])); // NORACE
    return 0;
}
