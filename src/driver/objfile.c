/* SPDX-License-Identifier: Apache-2.0 */
/* Reading ELF headers and the outermost structure of LLVM bitcode. */
#include "driver/objfile.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const unsigned char *data;
    size_t len;
};

/* Copies what lies at `at`, since nothing in a file need be aligned; false if it lies outside. */
static bool read_at(struct bytes file, size_t at, void *into, size_t size)
{
    if (at > file.len || file.len - at < size)
        return false;
    memcpy(into, file.data + at, size);
    return true;
}

static bool starts_with(struct bytes file, const char *magic, size_t len)
{
    return file.len >= len && memcmp(file.data, magic, len) == 0;
}

static bool is_bitcode(struct bytes file)
{
    return starts_with(file, "BC\xC0\xDE", 4) || starts_with(file, "\xDE\xC0\x17\x0B", 4);
}

/*
 * Whether the bytes are one bitcode file from end to end: the magic, then blocks, each of which
 * begins with a word of abbreviation code 1 in two bits and tells its length in the next word.
 * Files that were glued together fail where the second magic stands.
 */
static bool is_whole_bitcode(struct bytes bitcode)
{
    if (!starts_with(bitcode, "BC\xC0\xDE", 4))
        return false;
    size_t at = 4;
    while (at < bitcode.len) {
        uint32_t head[2];
        if (!read_at(bitcode, at, head, sizeof head) || (head[0] & 3) != 1)
            return false;
        size_t step = sizeof head + (size_t)head[1] * 4;
        if (step > bitcode.len - at)
            return false;
        at += step;
    }
    return at > 4;
}

/* The table of section headers; numbers too large for the file header stand in its first entry. */
struct sections {
    size_t at;
    size_t count;
    size_t names_at, names_len;
};

static bool read_section(struct bytes file, const struct sections *sections, size_t index,
                         Elf64_Shdr *section)
{
    return index < sections->count &&
           read_at(file, sections->at + index * sizeof *section, section, sizeof *section);
}

static bool find_sections(struct bytes file, const Elf64_Ehdr *header, struct sections *sections)
{
    Elf64_Shdr first, names;
    *sections = (struct sections){.at = header->e_shoff, .count = 1};
    if (header->e_shoff == 0 || header->e_shoff > file.len || header->e_shentsize != sizeof first ||
        !read_section(file, sections, 0, &first))
        return false;
    sections->count = header->e_shnum ? header->e_shnum : first.sh_size;
    if (sections->count > (file.len - sections->at) / sizeof first)
        return false;
    size_t index = header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
    if (!read_section(file, sections, index, &names) || names.sh_offset > file.len ||
        names.sh_size > file.len - names.sh_offset)
        return false;
    sections->names_at = names.sh_offset;
    sections->names_len = names.sh_size;
    return true;
}

static bool is_named(struct bytes file, const struct sections *sections, size_t at,
                     const char *name)
{
    size_t size = strlen(name) + 1;
    return at <= sections->names_len && sections->names_len - at >= size &&
           memcmp(file.data + sections->names_at + at, name, size) == 0;
}

static void inspect_elf(struct rh_objfile *object, struct bytes file)
{
    Elf64_Ehdr header;
    if (!read_at(file, 0, &header, sizeof header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL)
        return;
    object->kind = header.e_machine == EM_X86_64 ? RH_OBJFILE_NATIVE : RH_OBJFILE_FOREIGN;
    if (object->kind == RH_OBJFILE_FOREIGN)
        return;
    struct sections sections;
    Elf64_Shdr section;
    if (!find_sections(file, &header, &sections))
        return;
    for (size_t i = 1; i < sections.count && read_section(file, &sections, i, &section); i++) {
        if (!is_named(file, &sections, section.sh_name, ".llvm.lto") &&
            !is_named(file, &sections, section.sh_name, ".llvmbc"))
            continue;
        object->kind = RH_OBJFILE_BROKEN;
        object->section_at = sections.at + i * sizeof section;
        if (section.sh_type == SHT_NOBITS || section.sh_offset > file.len ||
            section.sh_size > file.len - section.sh_offset)
            return;
        object->bitcode_at = section.sh_offset;
        object->bitcode_len = section.sh_size;
        if (is_whole_bitcode((struct bytes){file.data + section.sh_offset, section.sh_size}))
            object->kind = RH_OBJFILE_FAT;
        return;
    }
}

void rh_objfile_inspect(struct rh_objfile *object, const void *bytes, size_t len)
{
    struct bytes file = {bytes, len};
    *object = (struct rh_objfile){.kind = RH_OBJFILE_OTHER};
    if (is_bitcode(file)) {
        object->kind = RH_OBJFILE_BITCODE;
        object->bitcode_len = len;
    } else if (starts_with(file, "!<arch>\n", 8) || starts_with(file, "!<thin>\n", 8)) {
        object->kind = RH_OBJFILE_ARCHIVE;
    } else if (starts_with(file, ELFMAG, SELFMAG)) {
        inspect_elf(object, file);
    }
}

bool rh_objfile_has_bitcode(const struct rh_objfile *object)
{
    return object->kind == RH_OBJFILE_FAT || object->kind == RH_OBJFILE_BITCODE;
}

void rh_objfile_hide_bitcode(const struct rh_objfile *object, const void *bytes, size_t len,
                             struct rh_strbuf *out)
{
    size_t start = out->len;
    rh_strbuf_addn(out, bytes, len);
    Elf64_Shdr section;
    char *header = out->data + start + object->section_at;
    memcpy(&section, header, sizeof section);
    section.sh_name = 0;
    section.sh_type = SHT_PROGBITS;
    memcpy(header, &section, sizeof section);
}
