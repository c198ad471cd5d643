/* SPDX-License-Identifier: Apache-2.0 */
/* The functions by which code starts threads: see starters.h. */
#include "base/starters.h"

#include <stddef.h>
#include <string.h>

/* Names that end in a star stand for all that begin so: of the same function with other arguments,
 * or of a family. */
static const char *const starters[] = {
    /* The C library: threads, and functions that it runs in threads of its own. */
    "pthread_create",
    "thrd_create",
    "clone",
    "__clone",
    "clone3",
    "timer_create",
    "mq_notify",
    "getaddrinfo_a",
    "aio_*",
    "lio_listio*",
    /* The C++ library. */
    "_ZNSt6thread15_M_start_thread*",
    "_ZNSt6thread6_StateD*",
    /* OpenMP, for clang and for gcc. */
    "__kmpc_fork_*",
    "__kmpc_omp_task*",
    "__kmpc_taskloop*",
    "GOMP_parallel*",
    "GOMP_task*",
    "GOMP_teams*",
};

bool rh_starts_threads(const char *symbol)
{
    for (size_t i = 0; i < sizeof starters / sizeof starters[0]; i++) {
        size_t len = strlen(starters[i]);
        bool is_prefix = starters[i][len - 1] == '*';
        if (is_prefix ? strncmp(symbol, starters[i], len - 1) == 0
                      : strcmp(symbol, starters[i]) == 0)
            return true;
    }
    return false;
}

bool rh_loads_code(const char *symbol)
{
    return strcmp(symbol, "dlopen") == 0 || strcmp(symbol, "dlmopen") == 0;
}
