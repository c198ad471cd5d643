/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread of a loop is joined before the next one starts. */
#include "program.h"

static int counter;

static void *work(void *arg)
{
    counter += next(); // NORACE
    return arg;
}

int main(void)
{
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        start(&thread, work, NULL);
        finish(thread);
        counter += next(); // NORACE
    }
    keep((unsigned long)counter); // NORACE
    return 0;
}
