/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for code without bitcode that can start threads: see outside.h. */
#include "driver/outside.h"

#include "base/elf.h"
#include "base/map.h"
#include "base/needed.h"
#include "base/starters.h"
#include "driver/archive.h"
#include "driver/inputs.h"
#include "driver/objfile.h"
#include "racehive/image.h"

#include <stdlib.h>
#include <string.h>

struct search {
    struct rh_ld *ld;
    struct rh_strmap seen;    /* names of libraries */
    struct rh_wordlist queue; /* paths of libraries to look at */
    const char *origin;       /* path of the library being looked at */
    const struct rh_elf *elf; /* of that one */
    const char *symbol;       /* by which threads are started */
    const char *found;        /* the answer */
};

/* Shared libraries that library.def describes, by the beginning of their names. */
static bool is_described(const char *name)
{
    static const char *const described[] = {"libc.so",  "libm.so",      "libstdc++.so",
                                            "ld-linux", "libresolv.so", "libanl.so"};
    for (size_t i = 0; i < sizeof described / sizeof described[0]; i++)
        if (strncmp(name, described[i], strlen(described[i])) == 0)
            return true;
    return rh_inputs_is_usual(name);
}

/* --- one file --- */

static bool note_starter(const char *symbol, void *arg)
{
    struct search *s = arg;
    if (!rh_starts_threads(symbol))
        return false;
    s->symbol = rh_arena_strdup(&s->ld->arena, symbol);
    return true;
}

/* Says what it is about the file that can start threads. */
static void blame(struct search *s, const char *path, const char *why)
{
    const char *slash = strrchr(path, '/');
    s->found = rh_arena_printf(&s->ld->arena, "%s (%s)", slash ? slash + 1 : path, why);
}

static void look_at_symbols(struct search *s, const struct rh_elf *elf, const char *path)
{
    if (!rh_elf_has_symbols(elf))
        blame(s, path, "without symbols");
    else if (rh_elf_find(elf, RH_ELF_UNDEFINED, note_starter, s))
        blame(s, path, s->symbol);
}

/* --- objects and archives --- */

static void look_at_archive(struct search *s, const char *path)
{
    struct rh_archive archive;
    struct rh_archive_member member;
    bool more = true;
    if (rh_archive_open(&archive, path) != RH_OK) {
        blame(s, path, "cannot be read");
        return;
    }
    while (!s->found && rh_archive_next(&archive, &member, &more) == RH_OK && more) {
        struct rh_objfile object;
        rh_objfile_inspect(&object, member.data, member.len);
        const struct rh_elf elf = {.file = {.data = member.data, .len = member.len}};
        if (!rh_objfile_has_bitcode(&object) && rh_elf_has_symbols(&elf))
            look_at_symbols(s, &elf, path);
        rh_archive_release_member(&member);
    }
    rh_archive_close(&archive);
}

static void look_at_object(struct search *s, const char *path)
{
    struct rh_elf elf;
    if (rh_elf_open(path, &elf) != RH_OK) {
        blame(s, path, "cannot be read");
        return;
    }
    if (rh_elf_has_symbols(&elf)) /* data alone has none */
        look_at_symbols(s, &elf, path);
    rh_elf_close(&elf);
}

/* --- shared libraries --- */

static bool add_needed(const char *name, void *arg)
{
    struct search *s = arg;
    if (is_described(name) || rh_strmap_has(&s->seen, name))
        return false;
    rh_strmap_put(&s->seen, rh_arena_strdup(&s->ld->arena, name), NULL);
    char *path = rh_needed_path(s->elf, s->origin, name, s->ld->library_paths.data,
                                s->ld->library_paths.len);
    if (path)
        rh_vec_push(&s->queue, rh_arena_strdup(&s->ld->arena, path));
    else
        blame(s, name, "not found");
    free(path);
    return s->found != NULL;
}

static void look_at_library(struct search *s, const char *path)
{
    struct rh_elf elf;
    if (rh_elf_open(path, &elf) != RH_OK) { /* most often a script of the linker's */
        blame(s, path, "cannot be read");
        return;
    }
    s->origin = path;
    s->elf = &elf;
    look_at_symbols(s, &elf, path);
    if (!s->found)
        rh_elf_find(&elf, RH_ELF_NEEDED, add_needed, s);
    s->elf = NULL;
    rh_elf_close(&elf);
}

const char *rh_outside_starter(struct rh_ld *ld)
{
    struct search s = {.ld = ld};
    rh_vec_each (struct rh_ld_arg, arg, &ld->args) {
        if (s.found || !arg->path || (arg->content == RH_LD_BITCODE && !arg->hidden))
            continue;
        const char *slash = strrchr(arg->path, '/'), *name = slash ? slash + 1 : arg->path;
        if (is_described(name))
            continue;
        if (rh_inputs_is_loaded(name))
            look_at_library(&s, arg->path);
        else if (arg->is_archive)
            look_at_archive(&s, arg->path);
        else
            look_at_object(&s, arg->path);
    }
    while (!s.found && s.queue.len)
        look_at_library(&s, rh_vec_pop(&s.queue));
    rh_strmap_release(&s.seen);
    rh_vec_free(&s.queue);
    return s.found;
}

static bool has_keys(const char *path)
{
    struct rh_elf elf;
    if (rh_elf_open(path, &elf) != RH_OK)
        return false;
    bool has = rh_elf_has_section(&elf, RH_NOTE_SECTION);
    rh_elf_close(&elf);
    return has;
}

const char *rh_outside_keyed(struct rh_ld *ld)
{
    rh_vec_each (struct rh_ld_arg, arg, &ld->args) {
        const char *slash = arg->path ? strrchr(arg->path, '/') : NULL;
        const char *name = slash ? slash + 1 : arg->path;
        if (name && rh_inputs_is_loaded(name) && has_keys(arg->path))
            return rh_arena_strdup(&ld->arena, name);
    }
    return NULL;
}
