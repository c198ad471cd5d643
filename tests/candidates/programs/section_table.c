/* SPDX-License-Identifier: Apache-2.0 */
/* Variables and functions that register themselves by the section they lie in. */
#include "program.h"

static long counter __attribute__((section("counters"), used));
extern long __start_counters[];
static long called;

static void hook(void)
{
    called = 1; // RACE: hook
}

static void (*const entry)(void) __attribute__((section("hooks"), used)) = hook;
extern void (*const __start_hooks[])(void), (*const __stop_hooks[])(void);

static void *work(void *arg)
{
    __start_counters[0] = 2; // RACE: counter
    for (void (*const *at)(void) = __start_hooks; at < __stop_hooks; at++)
        (*at)();
    return arg;
}

int main(void)
{
    pthread_t thread;
    start(&thread, work, NULL);
    counter = 3; // RACE: counter
    called = 4;  // RACE: hook
    finish(thread);
    keep((unsigned long)(counter + called));
    return 0;
}
