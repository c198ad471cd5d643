/* SPDX-License-Identifier: Apache-2.0 */
/* A thread fills the line that main hands to the kernel. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../program.h"

enum { LINES = 400, LENGTH = 64 };

static char line[LENGTH];
static int is_over;

static void *fill(void *arg)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        memset(line, (int)next(), sizeof line); // RACE
        nap(50);
    }
    return arg;
}

int main(void)
{
    int sink = open("/dev/null", O_WRONLY);
    pthread_t filler;
    start(&filler, fill, NULL);
    for (int i = 0; i < LINES; i++) {
        if (write(sink, line, sizeof line) < 0) // RACE
            return 1;
        nap(50);
    }
    tell(&is_over, 1);
    finish(filler);
    return 0;
}
