/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: the smallest ELF file that has what we look for in one. */
#ifndef RH_BASE_ELF_TESTING_H
#define RH_BASE_ELF_TESTING_H

#include "base/strbuf.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

struct elf_fixture {
    const char *build_id; /* raw bytes, no NUL among them; NULL: the file has no such note */
    bool instrumented;    /* has the section of keys */
};

/* Two notes in front of the build id: the owner and the type must both be looked at. */
static inline void add_notes(struct rh_strbuf *out, const char *build_id)
{
    const Elf64_Nhdr version = {4, 4, NT_GNU_ABI_TAG}, foreign = {5, 3, NT_GNU_BUILD_ID};
    rh_strbuf_addn(out, &version, sizeof version);
    rh_strbuf_addn(out, "GNU\0\1\2\3\4", 8);
    rh_strbuf_addn(out, &foreign, sizeof foreign);
    rh_strbuf_addn(out, "else\0\0\0\0abc\0", 12);
    if (!build_id)
        return;
    const Elf64_Nhdr id = {4, (Elf64_Word)strlen(build_id), NT_GNU_BUILD_ID};
    rh_strbuf_addn(out, &id, sizeof id);
    rh_strbuf_addn(out, "GNU", 4);
    rh_strbuf_add(out, build_id);
}

/* Layout: header, one segment, notes, names of sections, section headers. */
static inline void make_elf(struct rh_strbuf *out, const struct elf_fixture *fixture)
{
    static const char names[] = "\0.shstrtab\0.note.racehive\0.note.racehiv";
    struct rh_strbuf notes = RH_STRBUF_INIT;
    add_notes(&notes, fixture->build_id);
    size_t notes_at = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), names_at = notes_at + notes.len;
    Elf64_Ehdr header = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof header,
        .e_shoff = names_at + sizeof names,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 1,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = 3,
        .e_shstrndx = 1,
    };
    Elf64_Phdr segment = {
        .p_type = PT_NOTE, .p_offset = notes_at, .p_filesz = notes.len, .p_align = 4};
    Elf64_Shdr sections[3] = {
        {.sh_name = 0},
        {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = names_at, .sh_size = sizeof names},
        {.sh_name = fixture->instrumented ? 11 : 26, .sh_type = SHT_PROGBITS},
    };
    rh_strbuf_addn(out, &header, sizeof header);
    rh_strbuf_addn(out, &segment, sizeof segment);
    rh_strbuf_addn(out, notes.data, notes.len);
    rh_strbuf_addn(out, names, sizeof names);
    rh_strbuf_addn(out, sections, sizeof sections);
    rh_strbuf_release(&notes);
}

#endif
