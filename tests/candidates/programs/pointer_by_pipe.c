/* SPDX-License-Identifier: Apache-2.0 */
/* A block is handed to another thread through a pipe, and then touched by both. */
#include "program.h"

#include <unistd.h>

struct job {
    int before, after;
};

static int ends[2];

static NOINLINE void read_all(int fd, void *buffer, size_t size)
{
    for (size_t got = 0; got < size;) {
        ssize_t now = read(fd, (char *)buffer + got, size - got);
        if (now <= 0)
            abort();
        got += (size_t)now;
    }
}

static void *work(void *arg)
{
    struct job *job;
    read_all(ends[0], &job, sizeof job);
    keep((unsigned long)job->before);
    job->after++; // RACE
    return arg;
}

int main(void)
{
    pthread_t thread;
    struct job *job = malloc(sizeof *job);
    if (!job || pipe(ends))
        return 1;
    start(&thread, work, NULL);
    job->before = next();
    if (write(ends[1], &job, sizeof job) != sizeof job)
        return 1;
    job->after = next(); // RACE
    finish(thread);
    return 0;
}
