/* SPDX-License-Identifier: Apache-2.0 */
/* The lock of a stream, taken with flockfile and ftrylockfile, orders the program's own data.
 * ThreadSanitizer is wrong here: it does not know the locks of streams. */
#include "../program.h"
#include <sched.h>
#include <stdio.h>

enum { ROUNDS = 30 };

static FILE *streams[2];
static long lines;

static void *print(void *arg)
{
    FILE *stream = streams[unforeseen(1)];
    for (int i = 0; i < ROUNDS; i++) {
        flockfile(stream);
        fputs("a line ", stream);
        putc_unlocked('\n', stream);
        lines++;
        funlockfile(stream);
    }
    return arg;
}

static void *try_to_print(void *arg)
{
    FILE *stream = streams[unforeseen(1)];
    for (int i = 0; i < ROUNDS; i++) {
        while (ftrylockfile(stream))
            sched_yield();
        fprintf(stream, "line %d\n", i);
        lines++;
        funlockfile(stream);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    for (int i = 0; i < 2; i++) {
        streams[i] = fopen("/dev/null", "w");
        must(streams[i] != NULL);
    }
    start(&a, print, NULL);
    start(&b, try_to_print, NULL);
    finish(a);
    finish(b);
    must(lines == 2 * ROUNDS);
    return 0;
}
// TSAN: wrong, it does not know the locks of streams
