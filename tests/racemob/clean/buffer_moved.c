/* SPDX-License-Identifier: Apache-2.0 */
/* One buffer goes back and forth through a pipe: who has received a byte may fill or send it. */
#include <string.h>
#include <unistd.h>

#include "../program.h"

enum { ROUNDS = 300, LENGTH = 64 };

static char line[LENGTH];
static int there[2], back[2], sink[2];

static void give(int to)
{
    while (write(to, "", 1) != 1)
        ;
}

static void take(int from)
{
    char token;
    while (read(from, &token, 1) != 1)
        ;
}

static void *fill(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        take(there[0]);
        memset(line, i, sizeof line);
        give(back[1]);
    }
    return arg;
}

int main(void)
{
    pthread_t filler;
    if (pipe(there) != 0 || pipe(back) != 0 || pipe(sink) != 0)
        return 1;
    start(&filler, fill, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        give(there[1]);
        take(back[0]);
        if (write(sink[1], line, sizeof line) != LENGTH || read(sink[0], line, LENGTH) != LENGTH)
            return 1;
    }
    finish(filler);
    return 0;
}
