/* SPDX-License-Identifier: Apache-2.0 */
/* A signal handler interrupts main in the middle of an update. */
#include "program.h"
#include <signal.h>

static int counter;
static volatile sig_atomic_t steady;

static void on_signal(int number)
{
    (void)number;
    counter += 3; // RACE
}

int main(void)
{
    steady = next();
    signal(SIGUSR1, on_signal);
    counter += next(); // RACE
    raise(SIGUSR1);
    keep((unsigned long)(counter + steady));
    return 0;
}
// TSAN: misses, it takes a handler for part of the thread it interrupts
