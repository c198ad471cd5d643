/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by unit tests: cmocka, scratch folders, statuses, children to sacrifice. */
#ifndef RH_BASE_TESTING_H
#define RH_BASE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fs.h"
#include "base/strbuf.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define RH_TESTING_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RH_TESTING_ASAN 1
#endif
#endif
#ifndef RH_TESTING_ASAN
#define RH_TESTING_ASAN 0
#endif

/* Leaves a test out for a reason, which the list at the end of `make check` has. */
#define skip_for(why)                                                                              \
    do {                                                                                           \
        print_message("SKIPPED: %s: %s\n", __func__, (why));                                       \
        skip();                                                                                    \
    } while (0)

/* A cmocka fixture: *state becomes the path of a fresh folder that other users may look into. */
static inline int make_scratch(void **state)
{
    char *path;
    if (rh_fs_make_temp_dir(&path) != RH_OK || chmod(path, 0755) != 0)
        return -1;
    *state = path;
    return 0;
}

static inline int remove_scratch(void **state)
{
    chmod(*state, 0755);
    enum rh_status status = rh_fs_remove_tree(*state);
    free(*state);
    return status == RH_OK ? 0 : -1;
}

#define SCRATCH_TEST(name) cmocka_unit_test_setup_teardown(name, make_scratch, remove_scratch)

static inline size_t count_entries(const char *folder)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    size_t count = 0;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count - 2; /* "." and ".." */
}

static inline const char *status_name(enum rh_status status)
{
    static const char *const names[] = {
#define RH_STATUS_NAME(code, exit_status) #code,
        RH_STATUS_TABLE(RH_STATUS_NAME)
#undef RH_STATUS_NAME
    };
    return names[status];
}

#define assert_status(expected, call)                                                              \
    do {                                                                                           \
        enum rh_status status_ = (call);                                                           \
        if (status_ != (expected))                                                                 \
            fail_msg("%s is %s, not %s: %s", #call, status_name(status_), status_name(expected),   \
                     rh_error_text());                                                             \
    } while (0)

/* Runs a program, adds its standard output to `out` unless that is NULL; returns its exit status,
 * or 128 plus the signal that ended it. */
static inline int run_program(const char *const *argv, struct rh_strbuf *out)
{
    int ends[2], status;
    assert_return_code(pipe(ends), 0);
    pid_t pid = fork();
    assert_return_code(pid, 0);
    if (pid == 0) {
        if (out)
            dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(ends[1]);
    char bytes[4096];
    for (ssize_t n; out && (n = read(ends[0], bytes, sizeof bytes)) > 0;)
        rh_strbuf_addn(out, bytes, (size_t)n);
    close(ends[0]);
    assert_return_code(waitpid(pid, &status, 0), 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Runs `body` in a child, adds what it says on standard error; returns its wait status. */
static inline int sacrifice(void (*body)(void), struct rh_strbuf *said)
{
    int ends[2];
    assert_return_code(pipe(ends), 0);
    pid_t pid = fork();
    assert_return_code(pid, 0);
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        body();
        _exit(0);
    }
    close(ends[1]);
    char bytes[4096];
    for (ssize_t n; (n = read(ends[0], bytes, sizeof bytes)) > 0;)
        rh_strbuf_addn(said, bytes, (size_t)n);
    close(ends[0]);
    int status;
    assert_return_code(waitpid(pid, &status, 0), 0);
    return status;
}

#endif
