/* SPDX-License-Identifier: Apache-2.0 */
/* The names of images: see image_names.h. */
#include "stack/image_names.h"

struct rh_image_name *rt_image_names;

/* The fence keeps the compiler from making calls of libc's functions out of these loops. */
static void copy(void *to, const void *from, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        ((char *)to)[i] = ((const char *)from)[i];
        atomic_signal_fence(memory_order_seq_cst);
    }
}

static size_t length_of(const char *text)
{
    size_t length = 0;
    for (; text && text[length]; length++)
        atomic_signal_fence(memory_order_seq_cst);
    return length;
}

static bool are_equal(const void *a, const void *b, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (((const char *)a)[i] != ((const char *)b)[i])
            return false;
    return true;
}

static uint32_t padded(uint32_t size)
{
    return (size + 3) & ~3u;
}

/* Notes lie in memory as they do in the file: sizes of name and contents, type, both padded. */
static void read_notes(const ElfW(Nhdr) * note, size_t size, struct rh_image_name *name)
{
    while (size >= sizeof *note) {
        size_t whole = sizeof *note + padded(note->n_namesz) + padded(note->n_descsz);
        const uint8_t *bytes = (const uint8_t *)(note + 1);
        if (whole > size)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && bytes[0] == 'G' &&
            bytes[1] == 'N' && bytes[2] == 'U' && note->n_descsz <= sizeof name->build_id) {
            name->build_id_size = note->n_descsz;
            copy(name->build_id, bytes + padded(note->n_namesz), note->n_descsz);
            return;
        }
        note = (const ElfW(Nhdr) *)((const char *)note + whole);
        size -= whole;
    }
}

void rt_image_build_id(const struct dl_phdr_info *info, struct rh_image_name *name)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_NOTE && !name->build_id_size)
            read_notes((const ElfW(Nhdr) *)(info->dlpi_addr + p->p_vaddr), p->p_memsz, name);
    }
}

/* The end of a path that is too long: that is where the file's name is. */
static void set_path(struct rh_image_name *name, const char *path)
{
    size_t length = length_of(path);
    if (length >= sizeof name->path) {
        path += length - (sizeof name->path - 1);
        length = sizeof name->path - 1;
    }
    copy(name->path, path, length);
}

static bool is_same(const struct rh_image_name *a, const struct rh_image_name *b)
{
    return a->build_id_size == b->build_id_size &&
           are_equal(a->build_id, b->build_id, sizeof a->build_id) &&
           are_equal(a->path, b->path, sizeof a->path);
}

static void enter(struct rh_image_name *at, const struct rh_image_name *name)
{
    at->build_id_size = name->build_id_size;
    copy(at->build_id, name->build_id, sizeof at->build_id);
    copy(at->path, name->path, sizeof at->path);
    atomic_store(&at->ready, 1);
}

uint32_t rt_image_name(const struct dl_phdr_info *info)
{
    static const struct rh_image_name nothing;
    struct rh_image_name name;
    if (!rt_image_names)
        return RH_NO_IMAGE;
    copy(&name, &nothing, sizeof name); /* an initialiser may become a call of memset */
    rt_image_build_id(info, &name);
    set_path(&name, info->dlpi_name);
    for (uint32_t i = 0; i < RH_MAX_IMAGES; i++) {
        if (!atomic_load(&rt_image_names[i].ready))
            enter(&rt_image_names[i], &name);
        if (is_same(&rt_image_names[i], &name))
            return i;
    }
    return RH_NO_IMAGE;
}
