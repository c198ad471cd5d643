/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for the programs and files that the driver needs. */
#include "driver/tools.h"

#include "base/path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum rh_status rh_tools_find(const char *built_path, char **out)
{
    if (access(built_path, X_OK) == 0)
        return rh_path_which(built_path, out);
    char *name = rh_path_basename(built_path);
    enum rh_status status = rh_path_which(name, out);
    free(name);
    return status;
}

enum rh_status rh_tools_find_linker(const char *given, char **out)
{
    char *clang = NULL;
    enum rh_status status = RH_ERR_NOT_FOUND;
    if (given && !strchr(given, '/'))
        clang = realpath(RH_CLANG, NULL);
    if (clang) {
        char *folder = rh_path_dirname(clang), *beside = rh_path_join(folder, given);
        status = rh_path_which(beside, out);
        free(beside);
        free(folder);
        free(clang);
    }
    return status == RH_OK ? status : rh_path_which(given ? given : "ld", out);
}

enum rh_status rh_tools_find_prefix(int up, char **out)
{
    char *path;
    enum rh_status status = rh_path_self_dir(&path);
    for (; status == RH_OK && up > 0; up--) {
        char *parent = rh_path_dirname(path);
        free(path);
        path = parent;
    }
    if (status == RH_OK)
        *out = path;
    return status;
}
