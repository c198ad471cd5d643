/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main thread ends in pthread_exit while another runs, and is joined by it: the process goes
 * on, ends with its last thread with status 0, and runs its exit handlers in that thread.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

static pthread_t main_thread;
static struct {
    bool is_joined, is_handled;
} * seen;

/* Runs in the thread that ended last, whose own end has been told already: what it does is still
 * told, and it still knows what it knew. */
static void handle_exit(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    CHECK_KNOWS(1, 2);
    harness_forget();
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    EXPECT({RT_SYNC_MUTEX_LOCK, &mutex}, {RT_SYNC_MUTEX_UNLOCK, &mutex});
    seen->is_handled = true;
}

static void *join_main(void *arg)
{
    void *result;
    CHECK(pthread_join(main_thread, &result) == 0 && result == arg);
    CHECK_KNOWS(1, 2);
    seen->is_joined = true;
    return NULL;
}

static void end_main(void)
{
    pthread_t thread;
    main_thread = pthread_self();
    CHECK(atexit(handle_exit) == 0);
    CHECK(pthread_create(&thread, NULL, join_main, &main_thread) == 0);
    CHECK(pthread_detach(thread) == 0);
    harness_tell(1, 2);
    pthread_exit(&main_thread);
}

/* With an argument in a process of its own, which has never forked. */
int main(int argc, char **argv)
{
    int status;
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(seen != MAP_FAILED);
    if (argc > 1)
        end_main();
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        end_main();
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(seen->is_joined && seen->is_handled);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        execl(argv[0], argv[0], "alone", (char *)NULL);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return 0;
}
