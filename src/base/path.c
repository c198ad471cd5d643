/* SPDX-License-Identifier: Apache-2.0 */
/* Paths: taking apart, putting together, finding programs and the user's folders. */
#define _GNU_SOURCE 1
#include "base/path.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

char *rh_path_join(const char *dir, const char *name)
{
    if (*dir == '\0' || *name == '/')
        return rh_strdup(name);
    if (*name == '\0')
        return rh_strdup(dir);
    return rh_format("%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", name);
}

char *rh_path_tidy(const char *path)
{
    struct rh_strbuf out = RH_STRBUF_INIT;
    while (*path) {
        size_t slashes = strspn(path, "/"), len = strcspn(path + slashes, "/");
        const char *name = path + slashes;
        const char *last = strrchr(rh_strbuf_text(&out), '/');
        bool is_up = len == 2 && strncmp(name, "..", 2) == 0;
        bool is_root = out.len == 0 && slashes > 0;
        path = name + len;
        if (is_up && is_root)
            continue;
        if (is_up && last && strcmp(last, "/..") != 0)
            rh_strbuf_truncate(&out, (size_t)(last - rh_strbuf_text(&out)));
        else if (!(len == 1 && *name == '.') || out.len == 0)
            rh_strbuf_addf(&out, "%s%.*s", slashes ? "/" : "", (int)len, name);
    }
    return rh_strbuf_detach(&out);
}

bool rh_path_is_system(const char *path)
{
    static const char *const folders[] = {"/usr/include/",       "/usr/lib/",       "/usr/lib64/",
                                          "/usr/local/include/", "/usr/local/lib/", "/lib/"};
    static const char *const parts[] = {"/include/c++/", "/lib/clang/", "/lib/gcc/"};
    char *tidy = rh_path_tidy(path);
    bool found = false;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        found |= strncmp(tidy, folders[i], strlen(folders[i])) == 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        found |= strstr(tidy, parts[i]) != NULL;
    free(tidy);
    return found;
}

/* The length of the path without trailing slashes; the root itself keeps one. */
static size_t trim_slashes(const char *path, size_t len)
{
    while (len > 1 && path[len - 1] == '/')
        len--;
    return len;
}

/* Where the last component starts in the first `len` bytes, which end in no needless slash. */
static size_t find_last_component(const char *path, size_t len)
{
    size_t start = len;
    while (start > 0 && path[start - 1] != '/')
        start--;
    return start;
}

char *rh_path_basename(const char *path)
{
    size_t len = trim_slashes(path, strlen(path));
    if (len == 0)
        return rh_strdup(".");
    if (len == 1 && *path == '/')
        return rh_strdup("/");
    size_t start = find_last_component(path, len);
    return rh_strndup(path + start, len - start);
}

char *rh_path_dirname(const char *path)
{
    size_t len = trim_slashes(path, strlen(path));
    if (len == 1 && *path == '/')
        return rh_strdup("/");
    size_t start = find_last_component(path, len);
    return start == 0 ? rh_strdup(".") : rh_strndup(path, trim_slashes(path, start));
}

enum rh_status rh_path_absolute(const char *path, char **out)
{
    if (*path == '/') {
        *out = rh_strdup(path);
        return RH_OK;
    }
    char *folder = getcwd(NULL, 0);
    if (!folder)
        return rh_fail_errno(RH_ERR_IO, "cannot tell the current folder");
    *out = rh_path_join(folder, path);
    free(folder);
    return RH_OK;
}

static bool is_executable(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

enum rh_status rh_path_which(const char *name, char **out)
{
    if (strchr(name, '/')) {
        if (!is_executable(name))
            return rh_fail(RH_ERR_NOT_FOUND, "%s is not a program that can be run", name);
        *out = rh_strdup(name);
        return RH_OK;
    }
    const char *path = getenv("PATH");
    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    while (*name) {
        size_t len = strcspn(path, ":");
        /* An empty element of PATH has always meant the current folder. */
        char *folder = len == 0 ? rh_strdup(".") : rh_strndup(path, len);
        char *candidate = rh_path_join(folder, name);
        free(folder);
        if (is_executable(candidate)) {
            *out = candidate;
            return RH_OK;
        }
        free(candidate);
        if (path[len] == '\0')
            break;
        path += len + 1;
    }
    return rh_fail(RH_ERR_NOT_FOUND, "no program '%s' in PATH", name);
}

/* The path that this program was started by, which the kernel leaves beside its arguments: right
 * where /proc is not mounted, too, unless the program has changed its folder since. */
static enum rh_status find_self_started(char **out)
{
    const char *name = (const char *)getauxval(AT_EXECFN); /* NOLINT(performance-no-int-to-ptr) */
    char *path = name ? realpath(name, NULL) : NULL;
    if (!path)
        return rh_fail_errno(RH_ERR_IO, "cannot find this program's own file: /proc/self/exe");
    *out = rh_path_dirname(path);
    free(path);
    return RH_OK;
}

enum rh_status rh_path_self_dir(char **out)
{
    for (size_t room = 256;; room *= 2) {
        char *target = rh_alloc(room);
        ssize_t len = readlink("/proc/self/exe", target, room);
        if (len >= 0 && (size_t)len < room) {
            target[len] = '\0';
            *out = rh_path_dirname(target);
            free(target);
            return RH_OK;
        }
        free(target);
        if (len < 0)
            return find_self_started(out);
    }
}

/* The home folder that the account database gives, NULL if it gives none. */
static char *find_account_home(void)
{
    char buffer[16384];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(getuid(), &entry, buffer, sizeof buffer, &found) != 0 || !found)
        return NULL;
    return found->pw_dir && found->pw_dir[0] == '/' ? rh_strdup(found->pw_dir) : NULL;
}

enum rh_status rh_path_user_data(char **out)
{
    const char *data = getenv("XDG_DATA_HOME");
    if (data && *data == '/') {
        *out = rh_path_join(data, "racehive");
        return RH_OK;
    }
    const char *variable = getenv("HOME");
    char *home = variable && *variable == '/' ? rh_strdup(variable) : find_account_home();
    if (!home)
        return rh_fail(RH_ERR_NOT_FOUND,
                       "no folder for user data: set XDG_DATA_HOME or HOME to an absolute path");
    *out = rh_path_join(home, ".local/share/racehive");
    free(home);
    return RH_OK;
}
