/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ends of a process: the detector is finished once, before _exit, _Exit, quick_exit and an exec
 * that can succeed; never in a child that shares our memory, nor before an exec that fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

extern char **environ;

/* Seen by the parent: how often the child's detector finished, and by whom. */
static struct {
    _Atomic int finishes;
} * shared;

static void count_finish(void)
{
    atomic_fetch_add(&shared->finishes, 1);
}

/* The recorder with another end. */
static struct rt_detector detector;

static void use_shared_detector(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    if (!harness_is_on())
        return;
    detector = *rt_detector;
    detector.finish = count_finish;
    rt_detector = &detector;
}

static void check_child(void (*end)(void), int expected_status, int expected_finishes)
{
    int status;
    atomic_store(&shared->finishes, 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        end();
        CHECK(!"ended");
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == expected_status);
    CHECK(atomic_load(&shared->finishes) == (harness_is_on() ? expected_finishes : 0));
}

static void end_plainly(void)
{
    _exit(3);
}

static void end_in_c99(void)
{
    _Exit(4);
}

static void check_not_finished(void)
{
    CHECK(atomic_load(&shared->finishes) == 0);
}

static void end_quickly(void)
{
    CHECK(at_quick_exit(check_not_finished) == 0);
    quick_exit(5);
}

static void end_in_vfork(void)
{
    pid_t child = vfork();
    if (child == 0)
        _exit(1);
    CHECK(waitpid(child, NULL, 0) == child);
    check_not_finished();
    child = vfork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
        _exit(1);
    }
    CHECK(waitpid(child, NULL, 0) == child);
    check_not_finished();
    _exit(6);
}

static char *const arguments[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                                  (char *)(uintptr_t) "exit ${STATUS:-8}", NULL};
static char *const surroundings[] = {(char *)(uintptr_t) "STATUS=9", NULL};

static void exec_ve(void)
{
    execve("/bin/sh", arguments, surroundings);
}

static void exec_v(void)
{
    execv("/bin/sh", arguments);
}

static void exec_vp(void)
{
    execvp("sh", arguments);
}

static void exec_vpe(void)
{
    execvpe("sh", arguments, surroundings);
}

static void exec_l(void)
{
    execl("/bin/sh", "sh", "-c", "exit $(($1 + $#))", "name", "8", "x", "y", (char *)NULL);
}

static void exec_le(void)
{
    execle("/bin/sh", "sh", "-c", "exit $STATUS", (char *)NULL, surroundings);
}

static void exec_lp(void)
{
    execlp("sh", "sh", "-c", "exit 8", (char *)NULL);
}

static void exec_fd(void)
{
    fexecve(open("/bin/sh", O_RDONLY | O_CLOEXEC), arguments, surroundings);
}

static void exec_at(void)
{
    execveat(open("/bin", O_RDONLY | O_DIRECTORY), "sh", arguments, surroundings, 0);
}

/* Each fails, the program goes on, and so does the detector. */
static void fail_to_exec(void)
{
    CHECK(execve("/nonexistent/sh", arguments, environ) == -1 && errno == ENOENT);
    CHECK(execve("", arguments, environ) == -1 && errno == ENOENT);
    CHECK(execv("/etc/passwd", arguments) == -1 && errno == EACCES);
    CHECK(execv("/tmp", arguments) == -1 && errno == EACCES);
    CHECK(execvp("no-such-program-anywhere", arguments) == -1 && errno == ENOENT);
    CHECK(execvpe("no-such-program-anywhere", arguments, environ) == -1 && errno == ENOENT);
    CHECK(execl("/nonexistent/sh", "sh", (char *)NULL) == -1 && errno == ENOENT);
    CHECK(execle("/nonexistent/sh", "sh", (char *)NULL, environ) == -1 && errno == ENOENT);
    CHECK(execlp("no-such-program-anywhere", "sh", (char *)NULL) == -1 && errno == ENOENT);
    CHECK(execveat(AT_FDCWD, "/nonexistent/sh", arguments, environ, 0) == -1 && errno == ENOENT);
    CHECK(fexecve(-1, arguments, environ) == -1 && errno == EINVAL);
    check_not_finished();
    _exit(10);
}

int main(void)
{
    use_shared_detector();
    check_child(end_plainly, 3, 1);
    check_child(end_in_c99, 4, 1);
    check_child(end_quickly, 5, 1);
    check_child(end_in_vfork, 6, 1);
    check_child(exec_ve, 9, 1);
    check_child(exec_v, 8, 1);
    check_child(exec_vp, 8, 1);
    check_child(exec_vpe, 9, 1);
    check_child(exec_l, 11, 1);
    check_child(exec_le, 9, 1);
    check_child(exec_lp, 8, 1);
    check_child(exec_fd, 9, 1);
    check_child(exec_at, 9, 1);
    check_child(fail_to_exec, 10, 1);
    return 0;
}
