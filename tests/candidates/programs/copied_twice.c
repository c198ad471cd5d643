/* SPDX-License-Identifier: Apache-2.0 */
/* A pointer copied twice as bytes, through memory that nobody reads as what it is. */
#include "program.h"

struct message {
    long kind;
    int *counter;
};

static char first[256], second[256];

static void *work(void *arg)
{
    struct message message;
    memcpy(second, first, (size_t)next());
    memcpy(&message, second, sizeof message);
    *message.counter += next(); // RACE
    return arg;
}

int main(void)
{
    pthread_t a;
    static int counter;
    struct message message = {next(), &counter};
    memcpy(first, &message, (size_t)next());
    start(&a, work, NULL);
    counter -= next(); // RACE
    finish(a);
    keep((unsigned long)counter);
    return 0;
}
