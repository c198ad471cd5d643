/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF file of a process with its symbol tables and debug information: see binary.h. */
#include "report/symbols/binary.h"

#include "base/path.h"
#include "base/strbuf.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

static const char debug_folder[] = "/usr/lib/debug";

static void close_file(struct rh_binary_file *file)
{
    if (!file->elf)
        return;
    elf_end(file->elf);
    close(file->fd);
    file->elf = NULL;
}

static bool has_build_id(Elf *elf, struct rh_build_id wanted)
{
    const void *bytes;
    ssize_t len = dwelf_elf_gnu_build_id(elf, &bytes);
    if (wanted.len == 0)
        return true;
    return len > 0 && (size_t)len == wanted.len && memcmp(bytes, wanted.bytes, wanted.len) == 0;
}

/* O_NONBLOCK: the name may by now be that of a pipe. */
static bool open_file(struct rh_binary_file *file, const char *path, struct rh_build_id build_id)
{
    file->elf = NULL;
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0)
        return false;
    file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
    if (!file->elf) {
        close(file->fd);
        return false;
    }
    if (elf_kind(file->elf) == ELF_K_ELF && has_build_id(file->elf, build_id))
        return true;
    close_file(file);
    return false;
}

/* Frees the path, which is made for this one try. */
static bool try_file(struct rh_binary_file *file, char *path, struct rh_build_id build_id)
{
    bool found = open_file(file, path, build_id);
    free(path);
    return found;
}

static bool open_by_build_id(struct rh_binary_file *file, struct rh_build_id build_id,
                             const char *suffix)
{
    if (build_id.len < 2)
        return false;
    struct rh_strbuf path = RH_STRBUF_INIT;
    rh_strbuf_addf(&path, "%s/.build-id/%02x/", debug_folder, build_id.bytes[0]);
    for (size_t i = 1; i < build_id.len; i++)
        rh_strbuf_addf(&path, "%02x", build_id.bytes[i]);
    rh_strbuf_add(&path, suffix);
    return try_file(file, rh_strbuf_detach(&path), build_id);
}

/* By the name that objcopy --add-gnu-debuglink left, where debuggers look for it. */
static bool open_by_link(struct rh_binary *binary, const char *path, struct rh_build_id build_id)
{
    GElf_Word checksum;
    const char *name = dwelf_elf_gnu_debuglink(binary->file.elf, &checksum);
    if (!name || !path || build_id.len == 0)
        return false;
    char *folder = rh_path_dirname(path);
    bool found =
        try_file(&binary->debug, rh_format("%s/%s", folder, name), build_id) ||
        try_file(&binary->debug, rh_format("%s/.debug/%s", folder, name), build_id) ||
        try_file(&binary->debug, rh_format("%s%s/%s", debug_folder, folder, name), build_id);
    free(folder);
    return found;
}

static void add_symbol(struct rh_binary *binary, const GElf_Sym *symbol, const char *name)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
    struct rh_binary_symbol row = {symbol->st_value, symbol->st_size, name,
                                   GELF_ST_BIND(symbol->st_info)};
    if (symbol->st_shndx == SHN_UNDEF || !name || !*name)
        return;
    if (is_function)
        rh_vec_push(&binary->functions, row);
    else if (type == STT_OBJECT && symbol->st_size > 0)
        rh_vec_push(&binary->variables, row);
}

/* Adds the symbols of all tables of a kind; false if there is none. */
static bool add_tables(struct rh_binary *binary, Elf *elf, GElf_Word kind)
{
    bool found = false;
    for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        Elf_Data *data;
        if (!gelf_getshdr(section, &header) || header.sh_type != kind || header.sh_entsize == 0 ||
            !(data = elf_getdata(section, NULL)))
            continue;
        found = true;
        for (size_t i = 1; i < header.sh_size / header.sh_entsize; i++) {
            GElf_Sym symbol;
            if (gelf_getsym(data, (int)i, &symbol))
                add_symbol(binary, &symbol, elf_strptr(elf, header.sh_link, symbol.st_name));
        }
    }
    return found;
}

bool rh_binary_open(struct rh_binary *binary, const char *path, struct rh_build_id build_id)
{
    memset(binary, 0, sizeof *binary);
    elf_version(EV_CURRENT);
    bool found = path && *path && open_file(&binary->file, path, build_id);
    /* A debug file alone has names and lines, all that is wanted of it. */
    if (!found && !open_by_build_id(&binary->file, build_id, "") &&
        !open_by_build_id(&binary->file, build_id, ".debug"))
        return false;
    binary->dwarf = dwarf_begin_elf(binary->file.elf, DWARF_C_READ, NULL);
    if (!binary->dwarf && (open_by_build_id(&binary->debug, build_id, ".debug") ||
                           open_by_link(binary, found ? path : NULL, build_id)))
        binary->dwarf = dwarf_begin_elf(binary->debug.elf, DWARF_C_READ, NULL);
    if (!add_tables(binary, binary->file.elf, SHT_SYMTAB))
        add_tables(binary, binary->debug.elf, SHT_SYMTAB);
    add_tables(binary, binary->file.elf, SHT_DYNSYM);
    return true;
}

void rh_binary_close(struct rh_binary *binary)
{
    if (binary->dwarf)
        dwarf_end(binary->dwarf);
    close_file(&binary->debug);
    close_file(&binary->file);
    rh_vec_free(&binary->functions);
    rh_vec_free(&binary->variables);
}

static bool holds(const struct rh_binary_symbol *symbol, uint64_t address)
{
    return address >= symbol->address && address - symbol->address < symbol->size;
}

/* Of aliases the one that others can see, then the first by name: the same in every run. */
static bool is_better(const struct rh_binary_symbol *a, const struct rh_binary_symbol *b)
{
    if (!b)
        return true;
    if (a->size != b->size)
        return a->size < b->size;
    if (a->binding != b->binding)
        return a->binding == STB_GLOBAL || b->binding == STB_LOCAL;
    return strcmp(a->name, b->name) < 0;
}

const struct rh_binary_symbol *rh_binary_find(const struct rh_binary_symbols *symbols,
                                              uint64_t address)
{
    const struct rh_binary_symbol *best = NULL, *before = NULL;
    rh_vec_each (const struct rh_binary_symbol, it, symbols) {
        if (holds(it, address) && is_better(it, best))
            best = it;
        if (it->address <= address && (!before || it->address > before->address))
            before = it;
    }
    return best || !before || before->size > 0 ? best : before;
}

const struct rh_binary_symbol *rh_binary_get(const struct rh_binary_symbols *symbols,
                                             const char *name)
{
    rh_vec_each (const struct rh_binary_symbol, it, symbols)
        if (strcmp(it->name, name) == 0)
            return it;
    return NULL;
}
