/* SPDX-License-Identifier: Apache-2.0 */
/* Which images of a program take part: see images.h. */
#include "report/images.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/needed.h"
#include "base/vec.h"
#include "racehive/image.h"

#include <stdlib.h>
#include <string.h>

/* Where the loader looks without being told. */
static const char *const folders[] = {
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/lib",
};

/* Libraries that every program has, or that are known to the last function: not worth a word. */
static bool is_usual(const char *name)
{
    static const char *const usual[] = {"libc.so",      "libm.so",  "libpthread.so", "libdl.so",
                                        "librt.so",     "ld-linux", "libgcc_s.so",   "libutil.so",
                                        "libstdc++.so", "libmvec.", "libresolv.so"};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (strncmp(name, usual[i], strlen(usual[i])) == 0)
            return true;
    return false;
}

struct walk {
    const struct rh_elf *elf; /* the image being looked at, and its path */
    const char *path;
    struct rh_strmap seen;
    RH_VEC(char *) queue;
    struct rh_strbuf keyed, bare, missing; /* names, separated by commas */
    const char *wanted;                    /* name that is looked for, or NULL */
    char *found;                           /* its path */
};

static void add_name(struct rh_strbuf *list, const char *name)
{
    if (list->len)
        rh_strbuf_add(list, ", ");
    rh_strbuf_add(list, name);
}

/* A library is known by the name that programs need, and by that of the file which this leads to.
 */
static void mark_seen(struct walk *w, const char *path)
{
    char *file = realpath(path, NULL);
    const char *slash = file ? strrchr(file, '/') : NULL;
    if (slash)
        rh_strmap_put(&w->seen, slash + 1, NULL);
    free(file);
}

static void sort_library(struct walk *w, const char *name, char *path)
{
    struct rh_elf elf;
    if (!path || rh_elf_open(path, &elf) != RH_OK) {
        add_name(&w->missing, name);
        free(path);
        return;
    }
    mark_seen(w, path);
    add_name(rh_elf_has_section(&elf, RH_NOTE_SECTION) ? &w->keyed : &w->bare, name);
    rh_elf_close(&elf);
    if (w->wanted && !w->found && strcmp(name, w->wanted) == 0)
        w->found = rh_strdup(path);
    rh_vec_push(&w->queue, path);
}

static bool add_needed(const char *name, void *arg)
{
    struct walk *w = arg;
    if (is_usual(name) || rh_strmap_has(&w->seen, name))
        return false;
    rh_strmap_put(&w->seen, name, NULL);
    sort_library(w, name,
                 rh_needed_path(w->elf, w->path, name, folders, sizeof folders / sizeof *folders));
    return false;
}

static void look_at(struct walk *w, const char *path)
{
    struct rh_elf elf;
    if (rh_elf_open(path, &elf) != RH_OK)
        return;
    w->elf = &elf;
    w->path = path;
    rh_elf_find(&elf, RH_ELF_NEEDED, add_needed, w);
    rh_elf_close(&elf);
}

/* --- what runs have loaded --- */

static enum rh_status open_library(struct rh_images_library *library)
{
    char *path = NULL;
    enum rh_status status = rh_sidecar_find_loaded(library->row.path, library->row.build_id, &path);
    if (status == RH_OK)
        status = rh_sidecar_open(path, &library->sidecar);
    if (status == RH_OK)
        status = rh_sidecar_load_sites(library->sidecar, &library->sites, &library->site_count);
    if (status == RH_OK)
        status = rh_runs_open_existing(library->row.store, &library->runs);
    free(path);
    return status;
}

static void close_library(struct rh_images_library *library)
{
    if (library->runs)
        rh_runs_close(library->runs);
    if (library->sidecar)
        rh_sidecar_close(library->sidecar);
    library->runs = NULL;
    library->sidecar = NULL;
    library->sites = NULL;
}

enum rh_status rh_images_open(struct rh_runs *runs, struct rh_images_libraries *list)
{
    struct rh_runs_library_vec rows = RH_VEC_INIT;
    enum rh_status status = rh_runs_list_libraries(runs, &rows);
    rh_vec_each (const struct rh_runs_library, it, &rows) {
        struct rh_images_library library = {.row = *it};
        if (it->why_not[0]) {
            library.why_not = rh_strdup(it->why_not);
        } else if (open_library(&library) != RH_OK) {
            library.why_not = rh_strdup(rh_error_text());
            close_library(&library);
        }
        rh_vec_push(list, library);
    }
    rh_vec_free(&rows);
    return status;
}

void rh_images_close(struct rh_images_libraries *list)
{
    rh_vec_each (struct rh_images_library, it, list) {
        close_library(it);
        free(it->why_not);
    }
    rh_vec_free(list);
}

const struct rh_images_library *rh_images_at(const struct rh_images_libraries *list,
                                             uint32_t number)
{
    rh_vec_each (const struct rh_images_library, it, list)
        if (it->row.number == number)
            return it;
    return NULL;
}

/* --- in words --- */

static void add_part(struct rh_strbuf *out, const struct rh_strbuf *names, const char *what)
{
    if (names->len)
        rh_strbuf_addf(out, "%s%s: %s", out->len ? "; " : "", what, rh_strbuf_text(names));
}

static void walk_all(struct walk *w, const char *path)
{
    look_at(w, path);
    while (w->queue.len) {
        char *library = rh_vec_pop(&w->queue);
        look_at(w, library);
        free(library);
    }
}

static void release_walk(struct walk *w)
{
    rh_strbuf_release(&w->keyed);
    rh_strbuf_release(&w->bare);
    rh_strbuf_release(&w->missing);
    rh_strmap_release(&w->seen);
    rh_vec_free(&w->queue);
}

char *rh_images_find(const char *path, const char *name)
{
    struct walk w = {.wanted = name};
    walk_all(&w, path);
    release_walk(&w);
    return w.found;
}

static bool is_program(const struct rh_images_library *image)
{
    const char *type = rh_sidecar_get_meta(image->sidecar, RH_SIDECAR_META_IMAGE);
    return type && strcmp(type, "exe") == 0;
}

/* What runs have loaded beside what the program needs, and what they have executed. */
static void add_loaded(struct walk *w, const struct rh_images_libraries *loaded,
                       struct rh_strbuf *refused, struct rh_strbuf *executed)
{
    rh_vec_each (const struct rh_images_library, it, loaded) {
        if (it->why_not) {
            add_name(refused, it->row.name);
            rh_strbuf_addf(refused, " (%s)", it->why_not);
        } else if (is_program(it)) {
            add_name(executed, it->row.name);
        } else if (!rh_strmap_has(&w->seen, it->row.name)) {
            rh_strmap_put(&w->seen, it->row.name, NULL);
            add_name(&w->keyed, it->row.name);
        }
    }
}

void rh_images_describe(const char *path, const struct rh_images_libraries *loaded,
                        struct rh_strbuf *out)
{
    struct walk w = {0};
    struct rh_strbuf text = RH_STRBUF_INIT, refused = RH_STRBUF_INIT, executed = RH_STRBUF_INIT;
    walk_all(&w, path);
    if (loaded)
        add_loaded(&w, loaded, &refused, &executed);
    add_part(&text, &w.keyed, "with keys, which take part");
    add_part(&text, &executed, "and programs with keys that it executed, which take part");
    add_part(&text, &w.bare, "without keys (not built with racehive-cc)");
    add_part(&text, &refused, "that were loaded and do not take part");
    add_part(&text, &w.missing, "not found");
    if (text.len)
        rh_strbuf_addf(out, "Images: the program takes part. Libraries %s.", rh_strbuf_text(&text));
    rh_strbuf_release(&text);
    rh_strbuf_release(&refused);
    release_walk(&w);
    rh_strbuf_release(&executed);
}

void rh_images_explain_none(const struct rh_sidecar *sidecar, struct rh_strbuf *out)
{
    const char *threads = rh_sidecar_get_meta(sidecar, RH_SIDECAR_META_THREADS);
    const char *starter = rh_sidecar_get_meta(sidecar, RH_SIDECAR_META_STARTER);
    rh_strbuf_add(out, "No candidates: ");
    if (!threads)
        rh_strbuf_add(out, "the build does not say why.\n");
    else if (strcmp(threads, "0") != 0)
        rh_strbuf_add(out,
                      "no two threads of the program's touch common memory in its own code, one of "
                      "them writing, without a common lock.\n");
    else if (starter)
        rh_strbuf_addf(
            out,
            "the program starts no thread, and gives no function to what can start some (%s). "
            "Libraries and plugins built with racehive-cc take part in runs; what threads do in "
            "other code is not seen.\n",
            starter);
    else
        rh_strbuf_add(out, "the program starts no thread, and nothing it is linked with can.\n");
}
