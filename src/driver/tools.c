/* Looking for the programs and files that the driver needs. */
#include "driver/tools.h"

#include "base/path.h"

#include <stdlib.h>
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

enum rh_status rh_tools_find_system_linker(char **out)
{
    return rh_path_which("ld", out);
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
