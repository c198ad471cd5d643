/* For tests of the store: a scratch folder per test, and looking at what is in it. */
#ifndef RH_STORE_SCRATCH_TESTING_H
#define RH_STORE_SCRATCH_TESTING_H

#include "base/fs.h"
#include "base/strbuf.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Setup and teardown: *state is the path of a fresh folder that others may look into. */
static inline int make_scratch(void **state)
{
    char *folder;
    if (rh_fs_make_temp_dir(&folder) != RH_OK || chmod(folder, 0755) != 0)
        return -1;
    *state = folder;
    return 0;
}

static inline int remove_scratch(void **state)
{
    chmod(*state, 0755);
    enum rh_status status = rh_fs_remove_tree(*state);
    free(*state);
    return status == RH_OK ? 0 : -1;
}

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

#define assert_status(expected, call)                                                              \
    do {                                                                                           \
        enum rh_status status_ = (call);                                                           \
        if (status_ != (expected))                                                                 \
            fail_msg("%s is %s, not %s: %s", #call, rh_status_name(status_),                       \
                     rh_status_name(expected), rh_error_text());                                   \
    } while (0)

#endif
