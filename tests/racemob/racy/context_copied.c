/* SPDX-License-Identifier: Apache-2.0 */
/* A worker updates the members of its context, frame by frame; main copies the whole context now
 * and then to start the next frame from, and does not wait for the worker. */
#include <string.h>

#include "../program.h"

enum { FRAMES = 10, BLOCKS = 4000, STATE = 3000 };

struct context {
    long frame, cost, bits;
    int state[STATE];
};

static struct context working, copied;
static int is_over;

static void *encode(void *arg)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        for (int i = 0; i < BLOCKS; i++)
            working.state[(i * 7 + next()) % STATE] = i; // RACE
        nap(100);
    }
    return arg;
}

int main(void)
{
    pthread_t worker;
    start(&worker, encode, NULL);
    for (int i = 0; i < FRAMES; i++) {
        nap(20000);
        memcpy(&copied, &working, sizeof copied); // RACE
        keep((unsigned long)copied.state[i]);
    }
    tell(&is_over, 1);
    finish(worker);
    keep((unsigned long)(working.cost + copied.bits));
    return 0;
}
