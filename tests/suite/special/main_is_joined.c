/* SPDX-License-Identifier: Apache-2.0 */
/* A thread joins main, which ends by pthread_exit, and goes on with what main wrote. */
#include <pthread.h>

static pthread_t first;
static long written;

static void *follow(void *arg)
{
    pthread_join(first, NULL);
    written++;
    return arg;
}

int main(void)
{
    pthread_t follower;
    first = pthread_self();
    if (pthread_create(&follower, NULL, follow, NULL))
        return 1;
    pthread_detach(follower);
    written = 1;
    pthread_exit(NULL);
}
