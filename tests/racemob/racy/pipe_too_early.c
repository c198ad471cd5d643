/* SPDX-License-Identifier: Apache-2.0 */
/* The byte goes into the pipe before the data is ready; what was ready before is ordered. */
#include "../program.h"
#include <unistd.h>

static int ends[2];
static long early, late;

static void *send(void *arg)
{
    early = next(); // NORACE
    must(write(ends[1], "x", 1) == 1);
    late = next(); // RACE
    return arg;
}

static void *receive(void *arg)
{
    char byte;
    must(read(ends[0], &byte, 1) == 1);
    keep((unsigned long)early); // NORACE
    keep((unsigned long)late);  // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    must(pipe(ends) == 0);
    start(&b, receive, NULL);
    start(&a, send, NULL);
    finish(a);
    finish(b);
    return 0;
}
