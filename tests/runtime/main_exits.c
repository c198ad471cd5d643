/*
 * The main thread ends in pthread_exit while others run, and is joined: the process goes on, ends
 * with its last thread with status 0, and runs its exit handlers.
 * Expect: exit status 0, and on standard output "joined" and "handler".
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"

static pthread_t main_thread;

static void say(const char *text, size_t length)
{
    CHECK(write(STDOUT_FILENO, text, length) == (ssize_t)length);
}

static void *start_last(void *arg)
{
    return arg;
}

/* Runs in the thread that ended last, whose own end has been told already: it is still known, and
 * what it knew goes into threads it makes even now. */
static void handle_exit(void)
{
    pthread_t thread;
    void *result;
    CHECK_KNOWS(1, 2);
    CHECK(pthread_create(&thread, NULL, start_last, &main_thread) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == &main_thread);
    say("handler\n", 8);
}

static void *join_main(void *arg)
{
    void *result;
    CHECK(pthread_join(main_thread, &result) == 0 && result == arg);
    CHECK_KNOWS(1, 2);
    if (harness_is_exact())
        harness_forget();
    say("joined\n", 7);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    main_thread = pthread_self();
    CHECK(atexit(handle_exit) == 0);
    CHECK(pthread_create(&thread, NULL, join_main, &main_thread) == 0);
    CHECK(pthread_detach(thread) == 0);
    harness_tell(1, 2);
    pthread_exit(&main_thread);
}
