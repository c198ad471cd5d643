/* SPDX-License-Identifier: Apache-2.0 */
/* Names for places, offline: see symbols.h. */
#include "report/symbols/symbols.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "report/symbols/binary.h"
#include "report/symbols/dwarf.h"
#include "report/symbols/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One image, as far as it was found. */
struct image {
    struct rh_binary binary;
    struct rh_dwarf dwarf;
    const char *name; /* NULL for the executable */
    /* The runtime's code, in the image that it is linked into. */
    uint64_t runtime_begin, runtime_end;
};

struct rh_symbols {
    struct rh_arena *arena;
    const char *const *programs;
    struct rh_strmap images; /* by build id and path */
    bool full_names;
};

struct rh_symbols *rh_symbols_open(struct rh_arena *arena, const char *const *programs)
{
    struct rh_symbols *symbols = rh_calloc(1, sizeof *symbols);
    symbols->arena = arena;
    symbols->programs = programs;
    return symbols;
}

void rh_symbols_close(struct rh_symbols *symbols)
{
    void *value;
    for (size_t at = 0; rh_strmap_next(&symbols->images, &at, NULL, &value);) {
        struct image *image = value;
        rh_dwarf_release(&image->dwarf);
        rh_binary_close(&image->binary);
        free(image);
    }
    rh_strmap_release(&symbols->images);
    free(symbols);
}

/*
 * The runtime is linked as one object, so its code is one piece. These two are exported, and so
 * known in a stripped program too; whatever calls back into the program lies between them.
 */
static void find_runtime(struct image *image)
{
    const struct rh_binary_symbol *first =
        rh_binary_get(&image->binary.functions, "__rh_image_register");
    const struct rh_binary_symbol *last =
        rh_binary_get(&image->binary.functions, "__rh_benign_race");
    if (!first || !last)
        return;
    image->runtime_begin = first->address;
    image->runtime_end = last->address + last->size;
}

static void open_object(const struct rh_symbols *symbols, struct image *image, const char *path,
                        struct rh_build_id build_id)
{
    if (image->name) {
        rh_binary_open(&image->binary, path, build_id);
        return;
    }
    for (size_t i = 0; symbols->programs[i]; i++) {
        if (rh_binary_open(&image->binary, symbols->programs[i], build_id))
            return;
    }
    rh_binary_open(&image->binary, NULL, build_id);
}

static const char *find_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct image *open_image(struct rh_symbols *symbols, const struct rh_image_name *name,
                                const char *path)
{
    struct image *image = rh_calloc(1, sizeof *image);
    uint32_t len = name->build_id_size;
    struct rh_build_id build_id = {name->build_id, len <= sizeof name->build_id ? len : 0};
    if (*path)
        image->name = rh_arena_strdup(symbols->arena, find_base(path));
    open_object(symbols, image, path, build_id);
    rh_dwarf_init(&image->dwarf, image->binary.dwarf);
    find_runtime(image);
    return image;
}

static struct image *get_image(struct rh_symbols *symbols, const struct rh_image_name *name)
{
    struct rh_strbuf key = RH_STRBUF_INIT;
    char *path = rh_strndup(name->path, sizeof name->path);
    for (uint32_t i = 0; i < name->build_id_size && i < sizeof name->build_id; i++)
        rh_strbuf_addf(&key, "%02x", name->build_id[i]);
    rh_strbuf_addf(&key, " %s", path);
    struct image *image = rh_strmap_get(&symbols->images, rh_strbuf_text(&key));
    if (!image) {
        image = open_image(symbols, name, path);
        rh_strmap_put(&symbols->images, rh_strbuf_text(&key), image);
    }
    rh_strbuf_release(&key);
    free(path);
    return image;
}

void rh_symbols_want_full_names(struct rh_symbols *symbols)
{
    symbols->full_names = true;
}

struct rh_arena *rh_symbols_arena(struct rh_symbols *symbols)
{
    return symbols->arena;
}

/* A copy of a heap string, which is freed. */
static const char *keep(struct rh_symbols *symbols, char *text)
{
    const char *copy = rh_arena_strdup(symbols->arena, text);
    free(text);
    return copy;
}

const char *rh_symbols_demangle(struct rh_symbols *symbols, const char *linkage)
{
    char *full = rh_names_demangle(linkage);
    if (!full)
        return rh_arena_strdup(symbols->arena, linkage);
    if (symbols->full_names)
        return keep(symbols, full);
    const char *name = keep(symbols, rh_names_shorten(full));
    free(full);
    return name;
}

/* What the demangler does not know keeps the name that debug information has. */
static const char *shorten_unknown(struct rh_symbols *symbols, const char *name,
                                   const char *linkage)
{
    bool is_cxx = name && linkage && strncmp(linkage, "_Z", 2) == 0;
    return is_cxx && !symbols->full_names ? keep(symbols, rh_names_shorten(name)) : name;
}

const char *rh_symbols_name_function(struct rh_symbols *symbols, const char *name,
                                     const char *linkage)
{
    char *full = linkage ? rh_names_demangle(linkage) : NULL;
    if (!full)
        return shorten_unknown(symbols, name, linkage);
    if (symbols->full_names)
        return keep(symbols, full);
    const char *brief = keep(symbols, rh_names_shorten_function(full));
    free(full);
    return brief;
}

const char *rh_symbols_readable(struct rh_symbols *symbols, const char *text)
{
    return text ? keep(symbols, rh_names_readable(text)) : NULL;
}

const char *rh_symbols_name_locks(struct rh_symbols *symbols, const char *locks,
                                  const struct rh_sidecar_site *site)
{
    const char *linkage = site->location ? site->location->linkage : site->function->linkage;
    return keep(symbols, rh_names_locks(locks, linkage));
}

static const char *choose_name(struct rh_symbols *symbols, const char *name, const char *linkage)
{
    char *full = linkage ? rh_names_demangle(linkage) : NULL;
    if (!full && name)
        return rh_arena_strdup(symbols->arena, shorten_unknown(symbols, name, linkage));
    if (!full)
        return linkage;
    free(full);
    return rh_symbols_demangle(symbols, linkage);
}

static const char *copy_linkage(struct rh_symbols *symbols, const char *linkage)
{
    return linkage ? rh_arena_strdup(symbols->arena, linkage) : NULL;
}

/* Adds what debug information knows; false if that is nothing. */
static bool add_described(struct rh_symbols *symbols, const struct image *image, uint64_t address,
                          struct rh_symbols_frames *frames)
{
    struct rh_dwarf_frames found = RH_VEC_INIT;
    rh_dwarf_find(&image->dwarf, symbols->arena, address, &found);
    rh_vec_each (const struct rh_dwarf_frame, it, &found)
        rh_vec_push(frames, (struct rh_symbols_frame){
                                .function = choose_name(symbols, it->name, it->linkage),
                                .linkage = copy_linkage(symbols, it->linkage),
                                .file = it->file,
                                .line = it->line,
                                .column = it->column,
                                .image = image->name,
                                .inlined = it->inlined,
                            });
    bool any = found.len > 0;
    rh_vec_free(&found);
    return any;
}

void rh_symbols_add_frames(struct rh_symbols *symbols, const struct rh_image_name *name,
                           uint64_t offset, struct rh_symbols_frames *frames)
{
    const struct image *image = get_image(symbols, name);
    uint64_t address = offset - 1;
    if (address >= image->runtime_begin && address < image->runtime_end)
        return;
    if (add_described(symbols, image, address, frames))
        return;
    const struct rh_binary_symbol *symbol = rh_binary_find(&image->binary.functions, address);
    rh_vec_push(frames, (struct rh_symbols_frame){
                            .function = symbol ? rh_symbols_demangle(symbols, symbol->name) : NULL,
                            .linkage = symbol ? copy_linkage(symbols, symbol->name) : NULL,
                            .image = image->name,
                        });
}

/* The optimiser may split a variable into parts; readers know it by the name of the whole. */
static const char *name_variable(struct rh_symbols *symbols, const char *linkage)
{
    const char *name = rh_symbols_readable(symbols, linkage);
    const char *piece = strstr(name, " [clone ");
    return piece ? rh_arena_strndup(symbols->arena, name, (size_t)(piece - name)) : name;
}

const char *rh_symbols_variable(struct rh_symbols *symbols, const struct rh_image_name *name,
                                uint64_t offset)
{
    const struct image *image = get_image(symbols, name);
    const struct rh_binary_symbol *symbol = rh_binary_find(&image->binary.variables, offset);
    struct rh_dwarf_variable variable;
    const char *text;
    uint64_t distance;
    if (symbol) {
        text = name_variable(symbols, symbol->name);
        distance = offset - symbol->address;
    } else if (rh_dwarf_find_variable(&image->dwarf, offset, &variable)) {
        text = choose_name(symbols, variable.name, variable.linkage);
        distance = variable.offset;
    } else {
        return NULL;
    }
    return distance > 0 ? rh_arena_printf(symbols->arena, "%s+%" PRIu64, text, distance) : text;
}
