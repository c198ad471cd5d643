/* SPDX-License-Identifier: Apache-2.0 */
/* Main ends by pthread_exit while a thread races with what it wrote. */
#include <pthread.h>
#include <unistd.h>

static volatile long shared;

static void *add(void *arg)
{
    for (int i = 0; i < 50; i++) {
        usleep(200);
        shared += i; // RACE: exit
    }
    return arg;
}

int main(void)
{
    pthread_t adder;
    if (pthread_create(&adder, NULL, add, NULL))
        return 1;
    shared = 2; // RACE: exit
    pthread_exit(NULL);
}
