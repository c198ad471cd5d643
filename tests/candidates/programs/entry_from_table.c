/* SPDX-License-Identifier: Apache-2.0 */
/* The threads' functions come from a table, their arguments from a struct. */
#include "program.h"

struct job {
    void *(*entry)(void *);
    int *data;
};

static int first, second;

static void *write_it(void *arg)
{
    struct job *job = arg;
    *job->data = next(); // RACE
    return NULL;
}

static void *add_to_it(void *arg)
{
    struct job *job = arg;
    *job->data += 3; // RACE
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    struct job jobs[2] = {{write_it, &first}, {add_to_it, &first}};
    second = next(); // NORACE
    for (int i = 0; i < 2; i++)
        start(&threads[i], jobs[i].entry, &jobs[i]);
    for (int i = 0; i < 2; i++)
        finish(threads[i]);
    keep((unsigned long)(first + second)); // NORACE
    return 0;
}
