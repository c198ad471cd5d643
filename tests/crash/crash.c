/* SPDX-License-Identifier: Apache-2.0 */
/* Ends as its argument says: segv, abort, raise, own (with a handler of its own), or none. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int *volatile nowhere;
static const char *how;
int counter;

static void say_and_end(int number)
{
    (void)number;
    if (write(1, "handled\n", 8) != 8)
        _exit(1);
    _exit(9);
}

__attribute__((noinline)) static void crash_here(void)
{
    counter++;
    if (strcmp(how, "segv") == 0 || strcmp(how, "own") == 0)
        *nowhere = counter;
    else if (strcmp(how, "abort") == 0)
        abort();
    else if (strcmp(how, "raise") == 0)
        raise(SIGSEGV);
}

static void *work(void *arg)
{
    crash_here();
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    how = argc > 1 ? argv[1] : "none";
    if (strcmp(how, "own") == 0)
        signal(SIGSEGV, say_and_end);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
