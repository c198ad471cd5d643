/* SPDX-License-Identifier: Apache-2.0 */
/* A pipe read with readv, waited for with poll, and its end of file: what the writer did before
 * it wrote or closed comes before what the reader does after it saw that. ThreadSanitizer is
 * wrong here: to it the end of a file orders nothing. */
#include "../program.h"
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

static int ends[2];
static long first, last;

static void *send(void *arg)
{
    char text[2] = "ab";
    struct iovec parts[2] = {{text, 1}, {text + 1, 1}};
    first = 1;
    must(writev(ends[1], parts, 2) == 2);
    last = 2;
    close(ends[1]);
    return arg;
}

static void *receive(void *arg)
{
    char text[2];
    struct iovec parts[2] = {{text, 1}, {text + 1, 1}};
    struct pollfd wanted = {ends[0], POLLIN, 0};
    must(poll(&wanted, 1, -1) == 1);
    must(readv(ends[0], parts, 2) == 2);
    must(first == 1);
    first = 0;
    must(read(ends[0], text, 1) == 0);
    must(last == 2);
    last = 0;
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
// TSAN: wrong, to it the end of a file orders nothing
