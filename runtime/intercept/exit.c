/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ends of a process that pass by atexit: _exit and _Exit, quick_exit, and exec.
 *
 * exec replaces the process, so the detector must have the last word before; but when it fails the
 * program goes on. We therefore finish only if the file is there and may be executed, which leaves
 * out the failures that programs provoke on purpose, such as trying one folder after the other.
 * Should exec fail for another reason (arguments too long, not a program), what was found until
 * then has been written and the rest of the run goes unwatched.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "intercept/exit.h"
#include "intercept/fork.h"
#include "intercept/real.h"
#include "kernel/kernel.h"

/* In the child of a vfork there is nothing of its own to finish, but its parent has a child now. */
static bool has_to_finish(void)
{
    if (!rt_fork_is_home())
        rt_kernel_has_relatives();
    return atomic_load(&rt_mode) == RT_MODE_LIVE && rt_fork_is_home();
}

static void finish_at_home(void)
{
    if (has_to_finish())
        rt_finish();
}

/* Handlers run in the reverse order of their registration: ours, the first, after the program's. */
void rt_exit_start(void)
{
    at_quick_exit(finish_at_home);
}

RT_WRAPPER(void, _exit, (int status))
{
    finish_at_home();
    RT_REAL(_exit)(status);
    __builtin_unreachable();
}

RT_WRAPPER(void, _Exit, (int status))
{
    finish_at_home();
    RT_REAL(_Exit)(status);
    __builtin_unreachable();
}

/* --- exec --- */

/* An empty path means the open file itself, as in fexecve. */
static bool can_execute(int folder, const char *path)
{
    struct stat file;
    int kept = errno;
    bool can = fstatat(folder, path, &file, AT_EMPTY_PATH) == 0 && S_ISREG(file.st_mode) &&
               faccessat(folder, path, X_OK, AT_EACCESS | AT_EMPTY_PATH) == 0;
    errno = kept;
    return can;
}

static void before_exec(const char *path)
{
    if (has_to_finish() && can_execute(AT_FDCWD, path))
        rt_finish();
}

/* Looks for the program where execvp will. */
static bool is_on_path(const char *name)
{
    char candidate[4096];
    const char *folder = getenv("PATH");
    size_t name_length = strlen(name);
    if (!folder)
        folder = "/bin:/usr/bin";
    for (;;) {
        size_t length = strcspn(folder, ":");
        if (length + name_length + 2 <= sizeof candidate) {
            memcpy(candidate, folder, length);
            candidate[length] = '/';
            memcpy(candidate + length + (length > 0), name, name_length + 1);
            if (can_execute(AT_FDCWD, candidate))
                return true;
        }
        if (!folder[length])
            return false;
        folder += length + 1;
    }
}

static void before_exec_on_path(const char *name)
{
    if (strchr(name, '/'))
        before_exec(name);
    else if (has_to_finish() && is_on_path(name))
        rt_finish();
}

RT_WRAPPER(int, execve, (const char *p, char *const v[], char *const e[]))
{
    before_exec(p);
    return RT_REAL(execve)(p, v, e);
}

RT_WRAPPER(int, execv, (const char *p, char *const v[]))
{
    before_exec(p);
    return RT_REAL(execv)(p, v);
}

RT_WRAPPER(int, execvp, (const char *n, char *const v[]))
{
    before_exec_on_path(n);
    return RT_REAL(execvp)(n, v);
}

RT_WRAPPER(int, execvpe, (const char *n, char *const v[], char *const e[]))
{
    before_exec_on_path(n);
    return RT_REAL(execvpe)(n, v, e);
}

RT_WRAPPER(int, fexecve, (int fd, char *const v[], char *const e[]))
{
    if (has_to_finish() && can_execute(fd, ""))
        rt_finish();
    return RT_REAL(fexecve)(fd, v, e);
}

RT_WRAPPER(int, execveat, (int fd, const char *p, char *const v[], char *const e[], int flags))
{
    if (has_to_finish() && can_execute(fd, p))
        rt_finish();
    return RT_REAL(execveat)(fd, p, v, e, flags);
}

/* The wrappers with a list of arguments make an array of it in their own frame; in the child of a
 * vfork there is nowhere else to put it. */
static size_t count_arguments(const char *first, va_list *more)
{
    size_t count = 0;
    for (const char *a = first; a; a = va_arg(*more, const char *))
        count++;
    return count;
}

/* Leaves `more` behind the null pointer. */
static void copy_arguments(const char **array, const char *first, va_list *more)
{
    for (const char *a = first; (*array++ = a) != NULL;)
        a = va_arg(*more, const char *);
}

#define ARGUMENTS_AS_ARRAY(array, first, more)                                                     \
    va_start(more, first);                                                                         \
    const char *array[count_arguments(first, &more) + 1];                                          \
    va_end(more);                                                                                  \
    va_start(more, first);                                                                         \
    copy_arguments(array, first, &more)

RT_WRAPPER(int, execl, (const char *p, const char *first, ...))
{
    va_list more;
    ARGUMENTS_AS_ARRAY(v, first, more);
    va_end(more);
    before_exec(p);
    return RT_REAL(execve)(p, (char *const *)(uintptr_t)v, environ);
}

RT_WRAPPER(int, execle, (const char *p, const char *first, ...))
{
    va_list more;
    ARGUMENTS_AS_ARRAY(v, first, more);
    char **environment = va_arg(more, char **);
    va_end(more);
    before_exec(p);
    return RT_REAL(execve)(p, (char *const *)(uintptr_t)v, environment);
}

RT_WRAPPER(int, execlp, (const char *n, const char *first, ...))
{
    va_list more;
    ARGUMENTS_AS_ARRAY(v, first, more);
    va_end(more);
    before_exec_on_path(n);
    return RT_REAL(execvpe)(n, (char *const *)(uintptr_t)v, environ);
}
