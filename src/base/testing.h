/* Shared by the unit tests of base: cmocka, scratch folders, children to sacrifice. */
#ifndef RH_BASE_TESTING_H
#define RH_BASE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fs.h"
#include "base/strbuf.h"

#include <stdlib.h>
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

/* A cmocka fixture: *state becomes the path of a fresh folder. */
static inline int make_scratch(void **state)
{
    char *path;
    if (rh_fs_make_temp_dir(&path) != RH_OK)
        return -1;
    *state = path;
    return 0;
}

static inline int remove_scratch(void **state)
{
    enum rh_status status = rh_fs_remove_tree(*state);
    free(*state);
    return status == RH_OK ? 0 : -1;
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
