/* How the commands speak of places in the source: short paths, patterns, inlined functions. */
#include "report/places.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* There may be no current folder: it may have been removed. */
void rh_places_init(struct rh_places *places)
{
    char *folder = getcwd(NULL, 0);
    places->folder = NULL;
    if (!folder)
        return;
    size_t len = strlen(folder);
    places->folder = rh_format("%s%s", folder, len > 0 && folder[len - 1] == '/' ? "" : "/");
    free(folder);
}

void rh_places_release(struct rh_places *places)
{
    free(places->folder);
}

const char *rh_places_shorten(const struct rh_places *places, const char *path)
{
    size_t len = places->folder ? strlen(places->folder) : 0;
    if (len == 0 || strncmp(path, places->folder, len) != 0)
        return path;
    path += len;
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    return path;
}

bool rh_places_match_file(const struct rh_places *places, const char *pattern, const char *path)
{
    if (!path)
        return false;
    if (!strchr(pattern, '/')) {
        const char *slash = strrchr(path, '/');
        return fnmatch(pattern, slash ? slash + 1 : path, 0) == 0;
    }
    return fnmatch(pattern, path, 0) == 0 ||
           fnmatch(pattern, rh_places_shorten(places, path), 0) == 0;
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

bool rh_places_match(const struct rh_places *places, const char *file, const char *function,
                     const struct rh_sidecar_site *site)
{
    if (file && !rh_places_match_file(places, file, site->location ? site->location->file : NULL))
        return false;
    return !function || matches_function(function, site);
}

void rh_places_add(const struct rh_places *places, const struct rh_sidecar_location *at,
                   struct rh_strbuf *out)
{
    if (!at || !at->file)
        rh_strbuf_add(out, "?");
    else if (at->line == 0)
        rh_strbuf_addf(out, "%s:?", rh_places_shorten(places, at->file));
    else
        rh_strbuf_addf(out, "%s:%u:%u", rh_places_shorten(places, at->file), at->line, at->column);
}

void rh_places_add_function(const struct rh_sidecar_location *at,
                            const struct rh_sidecar_function *holder, struct rh_strbuf *out)
{
    rh_strbuf_add(out, at ? at->function : holder->name);
    if (at && at->inlined_at)
        rh_strbuf_addf(out, " (inlined into %s)", holder->name);
}
