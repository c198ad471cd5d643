/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a stream of the program's own are called under the stream's lock, which printf takes
 * inside the C library. */
#define _GNU_SOURCE
#include "../program.h"
#include <stdio.h>

enum { LINES = 1000 };

static FILE *stream;
static long bytes, calls;

static ssize_t take(void *cookie, const char *text, size_t size)
{
    (void)cookie, (void)text;
    bytes += (long)size;
    calls++;
    return (ssize_t)size;
}

static void *print(void *arg)
{
    for (int i = 0; i < LINES; i++)
        must(fprintf(stream, "line %d\n", i) > 0);
    return arg;
}

int main(void)
{
    stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = take});
    must(stream && setvbuf(stream, NULL, _IOLBF, 64) == 0);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        start(&threads[i], print, NULL);
    for (int i = 0; i < 2; i++)
        finish(threads[i]);
    must(fclose(stream) == 0 && calls >= 2 * LINES && bytes > calls);
    return 0;
}
