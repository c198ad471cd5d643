/* SPDX-License-Identifier: Apache-2.0 */
/* Where needed shared libraries are: see needed.h. */
#include "base/needed.h"

#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct search {
    const char *path, *name;
    char *found;
};

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

/* A folder of the image's own runpath may be meant relative to the image. */
static void look_in(struct search *s, const char *folder, size_t len)
{
    static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
    struct rh_strbuf path = RH_STRBUF_INIT;
    for (size_t i = 0; i < 2; i++) {
        size_t own = strlen(origins[i]);
        if (len < own || strncmp(folder, origins[i], own) != 0)
            continue;
        rh_strbuf_addn(&path, s->path, folder_length(s->path));
        if (!path.len)
            rh_strbuf_add(&path, ".");
        folder += own;
        len -= own;
        break;
    }
    rh_strbuf_addn(&path, folder, len);
    rh_strbuf_addf(&path, "/%s", s->name);
    if (access(rh_strbuf_text(&path), R_OK) == 0)
        s->found = rh_strbuf_detach(&path);
    rh_strbuf_release(&path);
}

static bool look_in_list(const char *list, void *arg)
{
    struct search *s = arg;
    while (*list && !s->found) {
        size_t len = strcspn(list, ":");
        if (len)
            look_in(s, list, len);
        list += len + (list[len] == ':');
    }
    return s->found != NULL;
}

char *rh_needed_path(const struct rh_elf *elf, const char *path, const char *name,
                     const char *const *folders, size_t count)
{
    struct search s = {.path = path, .name = name};
    rh_elf_find(elf, RH_ELF_RUNPATH, look_in_list, &s);
    for (size_t i = 0; i < count && !s.found; i++)
        look_in(&s, folders[i], strlen(folders[i]));
    if (!s.found && folder_length(path))
        look_in(&s, path, folder_length(path));
    return s.found;
}
