/* SPDX-License-Identifier: Apache-2.0 */
/* pthread_tryjoin_np and pthread_timedjoin_np order like a join once they succeed. */
#include "../program.h"
#include <errno.h>

static long first, second;

static void *write_first(void *arg)
{
    nap(2000);
    first = 1;
    return arg;
}

static void *write_second(void *arg)
{
    nap(2000);
    second = 2;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    struct timespec until;
    int status;
    start(&a, write_first, NULL);
    start(&b, write_second, NULL);
    while ((status = pthread_tryjoin_np(a, NULL)) == EBUSY)
        nap(300);
    must(status == 0 && first == 1);
    first = 0;
    do {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec = until.tv_nsec / 2 + 400000000;
        status = pthread_timedjoin_np(b, NULL, &until);
    } while (status == ETIMEDOUT);
    must(status == 0 && second == 2);
    second = 0;
    return 0;
}
// OPTIONS: -D_GNU_SOURCE
