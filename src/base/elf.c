/* SPDX-License-Identifier: Apache-2.0 */
/* The little of ELF that tells which build a program is and what it needs of others: see elf.h. */
#include "base/elf.h"

#include "base/strbuf.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

/* The part of the file at `offset` if all of it lies within; else NULL. */
static const unsigned char *look_at(const struct rh_elf *elf, uint64_t offset, uint64_t len)
{
    if (offset > elf->file.len || len > elf->file.len - offset)
        return NULL;
    return (const unsigned char *)elf->file.data + offset;
}

/* Copies a struct out, since nothing in a damaged file needs to be aligned. */
static bool read_at(const struct rh_elf *elf, uint64_t offset, void *out, size_t len)
{
    const unsigned char *bytes = look_at(elf, offset, len);
    if (bytes)
        memcpy(out, bytes, len);
    return bytes != NULL;
}

static bool read_header(const struct rh_elf *elf, Elf64_Ehdr *header)
{
    return read_at(elf, 0, header, sizeof *header) &&
           memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB;
}

static bool read_section(const struct rh_elf *elf, const Elf64_Ehdr *header, uint64_t index,
                         Elf64_Shdr *section)
{
    return read_at(elf, header->e_shoff + index * sizeof *section, section, sizeof *section);
}

/* Where the section headers are, how many, and which names them; very many are counted aside. */
struct sections {
    uint64_t count;
    uint64_t names;
};

static struct sections count_sections(const struct rh_elf *elf, const Elf64_Ehdr *header)
{
    struct sections sections = {.count = header->e_shnum, .names = header->e_shstrndx};
    Elf64_Shdr first;
    if (header->e_shoff == 0 || !read_section(elf, header, 0, &first))
        return (struct sections){0};
    if (sections.count == 0)
        sections.count = first.sh_size;
    if (sections.names == SHN_XINDEX)
        sections.names = first.sh_link;
    return sections;
}

static bool holds_tables(const struct rh_elf *elf, const Elf64_Ehdr *header)
{
    uint64_t count = count_sections(elf, header).count;
    bool sections_fit = header->e_shoff == 0 ||
                        (header->e_shentsize == sizeof(Elf64_Shdr) && count <= elf->file.len &&
                         look_at(elf, header->e_shoff, count * sizeof(Elf64_Shdr)) && count > 0);
    bool segments_fit =
        header->e_phnum == 0 ||
        (header->e_phentsize == sizeof(Elf64_Phdr) &&
         look_at(elf, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr)));
    return sections_fit && segments_fit;
}

static bool starts_with(const struct rh_elf *elf, const char *text)
{
    const unsigned char *bytes = look_at(elf, 0, strlen(text));
    return bytes && memcmp(bytes, text, strlen(text)) == 0;
}

static enum rh_status check_file(const struct rh_elf *elf, const char *path)
{
    Elf64_Ehdr header;
    if (starts_with(elf, "#!"))
        return rh_fail(RH_ERR_INPUT,
                       "%s is a script, not an ELF file (libtool keeps the program in .libs)",
                       path);
    if (!starts_with(elf, ELFMAG))
        return rh_fail(RH_ERR_INPUT, "%s is not an ELF file", path);
    if (elf->file.len < sizeof header)
        return rh_fail(RH_ERR_INPUT, "%s is a truncated ELF file", path);
    if (!read_header(elf, &header))
        return rh_fail(RH_ERR_INPUT, "%s is not a 64-bit little-endian ELF file", path);
    if (!holds_tables(elf, &header))
        return rh_fail(RH_ERR_INPUT, "%s is a truncated or damaged ELF file", path);
    return RH_OK;
}

enum rh_status rh_elf_open(const char *path, struct rh_elf *elf)
{
    enum rh_status status = rh_fs_map(path, &elf->file);
    if (status != RH_OK)
        return status;
    status = check_file(elf, path);
    if (status != RH_OK)
        rh_elf_close(elf);
    return status;
}

void rh_elf_close(struct rh_elf *elf)
{
    rh_fs_unmap(&elf->file);
}

static bool is_named(const struct rh_elf *elf, const Elf64_Shdr *names, uint32_t at,
                     const char *name)
{
    size_t len = strlen(name) + 1;
    if (at > names->sh_size || len > names->sh_size - at)
        return false;
    const unsigned char *table = look_at(elf, names->sh_offset, names->sh_size);
    return table && memcmp(table + at, name, len) == 0;
}

bool rh_elf_has_section(const struct rh_elf *elf, const char *name)
{
    Elf64_Ehdr header;
    Elf64_Shdr names, section;
    if (!read_header(elf, &header))
        return false;
    struct sections sections = count_sections(elf, &header);
    if (sections.names >= sections.count || !read_section(elf, &header, sections.names, &names))
        return false;
    for (uint64_t i = 0; i < sections.count && read_section(elf, &header, i, &section); i++)
        if (is_named(elf, &names, section.sh_name, name))
            return true;
    return false;
}

static uint64_t pad(uint64_t size, uint64_t align)
{
    return (size + align - 1) & ~(align - 1);
}

/* Walks the notes of one segment for the build id. */
static char *find_in_notes(const struct rh_elf *elf, uint64_t at, uint64_t end, uint64_t align)
{
    static const char owner[] = "GNU";
    Elf64_Nhdr note;
    while (at < end && read_at(elf, at, &note, sizeof note)) {
        uint64_t name_at = at + sizeof note;
        uint64_t bytes_at = name_at + pad(note.n_namesz, align);
        const unsigned char *name = look_at(elf, name_at, note.n_namesz);
        const unsigned char *bytes = look_at(elf, bytes_at, note.n_descsz);
        if (!name || !bytes)
            return NULL;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof owner &&
            memcmp(name, owner, sizeof owner) == 0 && note.n_descsz > 0) {
            struct rh_strbuf hex = RH_STRBUF_INIT;
            for (uint32_t i = 0; i < note.n_descsz; i++)
                rh_strbuf_addf(&hex, "%02x", bytes[i]);
            return rh_strbuf_detach(&hex);
        }
        at = bytes_at + pad(note.n_descsz, align);
    }
    return NULL;
}

enum rh_status rh_elf_check_build_id(const char *text)
{
    size_t digits = strspn(text, "0123456789abcdef");
    if (digits < 4 || text[digits] != '\0')
        return rh_fail(RH_ERR_INPUT, "'%s' is not a build id", text);
    return RH_OK;
}

char *rh_elf_build_id(const struct rh_elf *elf)
{
    Elf64_Ehdr header;
    if (!read_header(elf, &header))
        return NULL;
    char *id = NULL;
    for (uint64_t i = 0; i < header.e_phnum && !id; i++) {
        Elf64_Phdr segment;
        if (!read_at(elf, header.e_phoff + i * sizeof segment, &segment, sizeof segment))
            return NULL;
        if (segment.p_type == PT_NOTE && look_at(elf, segment.p_offset, segment.p_filesz))
            id = find_in_notes(elf, segment.p_offset, segment.p_offset + segment.p_filesz,
                               segment.p_align == 8 ? 8 : 4);
    }
    return id;
}

/* --- symbols and needed libraries --- */

/* A string of the table that ends within it; NULL if there is none. */
static const char *string_at(const struct rh_elf *elf, const Elf64_Shdr *table, uint64_t at)
{
    const unsigned char *bytes = look_at(elf, table->sh_offset, table->sh_size);
    if (!bytes || at >= table->sh_size || !memchr(bytes + at, 0, table->sh_size - at))
        return NULL;
    return (const char *)bytes + at;
}

static bool is_of_symbols(enum rh_elf_names names)
{
    return names == RH_ELF_UNDEFINED || names == RH_ELF_DEFINED;
}

/* The name in one row of a section: a symbol, or an entry of the dynamic section. */
static bool read_name(const struct rh_elf *elf, uint64_t at, enum rh_elf_names names,
                      uint64_t *name)
{
    Elf64_Sym symbol;
    Elf64_Dyn entry;
    if (is_of_symbols(names)) {
        *name = read_at(elf, at, &symbol, sizeof symbol) ? symbol.st_name : 0;
        if (!*name || (symbol.st_shndx == SHN_UNDEF) != (names == RH_ELF_UNDEFINED))
            return false;
        return names == RH_ELF_UNDEFINED || ELF64_ST_BIND(symbol.st_info) != STB_LOCAL;
    }
    if (!read_at(elf, at, &entry, sizeof entry))
        return false;
    *name = entry.d_un.d_val;
    return names == RH_ELF_NEEDED ? entry.d_tag == DT_NEEDED
                                  : entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH;
}

static bool is_symbol_table(const Elf64_Shdr *section)
{
    return section->sh_type == SHT_DYNSYM || section->sh_type == SHT_SYMTAB;
}

static bool find_in_section(const struct rh_elf *elf, const Elf64_Ehdr *header,
                            const Elf64_Shdr *section, enum rh_elf_names names,
                            bool (*visit)(const char *name, void *arg), void *arg)
{
    Elf64_Shdr strings;
    uint64_t size = is_of_symbols(names) ? sizeof(Elf64_Sym) : sizeof(Elf64_Dyn), name;
    if (!look_at(elf, section->sh_offset, section->sh_size) ||
        section->sh_link >= count_sections(elf, header).count ||
        !read_section(elf, header, section->sh_link, &strings))
        return false;
    for (uint64_t at = 0; at + size <= section->sh_size; at += size) {
        if (!read_name(elf, section->sh_offset + at, names, &name))
            continue;
        const char *text = string_at(elf, &strings, name);
        if (text && visit(text, arg))
            return true;
    }
    return false;
}

bool rh_elf_find(const struct rh_elf *elf, enum rh_elf_names names,
                 bool (*visit)(const char *name, void *arg), void *arg)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;
    uint64_t count = read_header(elf, &header) ? count_sections(elf, &header).count : 0;
    for (uint64_t i = 0; i < count && read_section(elf, &header, i, &section); i++) {
        bool fits =
            is_of_symbols(names) ? is_symbol_table(&section) : section.sh_type == SHT_DYNAMIC;
        if (fits && find_in_section(elf, &header, &section, names, visit, arg))
            return true;
    }
    return false;
}

bool rh_elf_has_symbols(const struct rh_elf *elf)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;
    uint64_t count = read_header(elf, &header) ? count_sections(elf, &header).count : 0;
    for (uint64_t i = 0; i < count && read_section(elf, &header, i, &section); i++)
        if (is_symbol_table(&section))
            return true;
    return false;
}
