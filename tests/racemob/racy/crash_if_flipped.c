/* SPDX-License-Identifier: Apache-2.0 */
/* A pointer is set shortly after the thread that follows it was started. The thread dawdles, so all
 * goes well; with a pause, the other order reads a null pointer. */
#include "../program.h"

struct config {
    int level;
};

static struct config choices[2] = {{3}, {4}};
static struct config *config;

static void *use(void *arg)
{
    nap(20000);
    struct config *seen = config; // RACE
    keep((unsigned long)seen->level);
    return arg;
}

static NOINLINE void set(struct config *value)
{
    config = value; // RACE
}

int main(void)
{
    pthread_t thread;
    start(&thread, use, NULL);
    set(&choices[next() % 2]);
    finish(thread);
    return 0;
}
