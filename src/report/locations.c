/* SPDX-License-Identifier: Apache-2.0 */
/* How commands write locations in the source: short paths, patterns, inlined functions. */
#include "report/locations.h"

#include "base/path.h"
#include "report/symbols/names.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* There may be no current folder: it may have been removed. */
void rh_locations_init(struct rh_locations *locations)
{
    char *folder = getcwd(NULL, 0);
    locations->folder = NULL;
    if (!folder)
        return;
    size_t len = strlen(folder);
    locations->folder = rh_format("%s%s", folder, len > 0 && folder[len - 1] == '/' ? "" : "/");
    free(folder);
}

void rh_locations_release(struct rh_locations *locations)
{
    free(locations->folder);
}

const char *rh_locations_shorten(const struct rh_locations *locations, const char *path)
{
    size_t len = locations->folder ? strlen(locations->folder) : 0;
    if (len == 0 || strncmp(path, locations->folder, len) != 0)
        return path;
    path += len;
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    return path;
}

bool rh_locations_match_file(const struct rh_locations *locations, const char *pattern,
                             const char *path)
{
    if (!path)
        return false;
    if (!strchr(pattern, '/')) {
        const char *slash = strrchr(path, '/');
        return fnmatch(pattern, slash ? slash + 1 : path, 0) == 0;
    }
    return fnmatch(pattern, path, 0) == 0 ||
           fnmatch(pattern, rh_locations_shorten(locations, path), 0) == 0;
}

static bool matches_name(const char *wanted, const char *name, const char *linkage)
{
    return strcmp(wanted, name) == 0 || strcmp(wanted, linkage) == 0;
}

static bool matches_function(const char *wanted, const struct rh_sidecar_site *site)
{
    for (const struct rh_sidecar_location *at = site->location; at; at = at->inlined_at)
        if (matches_name(wanted, at->function, at->linkage))
            return true;
    return matches_name(wanted, site->function->name, site->function->linkage);
}

bool rh_locations_match(const struct rh_locations *locations, const char *file,
                        const char *function, const struct rh_sidecar_site *site)
{
    if (file &&
        !rh_locations_match_file(locations, file, site->location ? site->location->file : NULL))
        return false;
    return !function || matches_function(function, site);
}

void rh_locations_add(const struct rh_locations *locations, const struct rh_sidecar_location *at,
                      struct rh_strbuf *out)
{
    if (!at || !at->file) {
        rh_strbuf_add(out, "?");
        return;
    }
    char *path = rh_path_tidy(rh_locations_shorten(locations, at->file));
    if (at->line == 0)
        rh_strbuf_addf(out, "%s:?", path);
    else
        rh_strbuf_addf(out, "%s%s:%u:%u", at->is_near ? "near " : "", path, at->line, at->column);
    free(path);
}

/* Adds the name that debug information has, without the arguments of templates that nobody writes.
 */
static void add_name(const char *name, const char *linkage, struct rh_strbuf *out)
{
    bool is_cxx = linkage && strncmp(linkage, "_Z", 2) == 0;
    char *brief = is_cxx ? rh_names_shorten(name) : NULL;
    rh_strbuf_add(out, brief ? brief : name);
    free(brief);
}

void rh_locations_add_function(const struct rh_sidecar_location *at,
                               const struct rh_sidecar_function *holder, struct rh_strbuf *out)
{
    add_name(at ? at->function : holder->name, at ? at->linkage : holder->linkage, out);
    if (!at || !at->inlined_at)
        return;
    rh_strbuf_add(out, " (inlined into ");
    add_name(holder->name, holder->linkage, out);
    rh_strbuf_addc(out, ')');
}
