/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading objects: files made here byte by byte, whole and damaged. */
#include "base/testing.h"

#include "base/path.h"
#include "driver/objfile.h"

#include <elf.h>
#include <string.h>

/* A bitcode file of one block with `words` words, as far as its outermost structure goes. */
static void add_bitcode(struct rh_strbuf *out, uint32_t words)
{
    const uint32_t head[2] = {1 | 8 << 2 | 3 << 10, words};
    rh_strbuf_addn(out, "BC\xC0\xDE", 4);
    rh_strbuf_addn(out, head, sizeof head);
    for (uint32_t i = 0; i < words; i++)
        rh_strbuf_addn(out, "\0\0\0\0", 4);
}

/* An ELF object with the sections "", .shstrtab and one of the given name and contents. */
static void make_object(struct rh_strbuf *out, const char *name, const struct rh_strbuf *contents)
{
    struct rh_strbuf names = RH_STRBUF_INIT;
    rh_strbuf_addn(&names, "\0.shstrtab\0", 11);
    rh_strbuf_addn(&names, name, strlen(name) + 1);
    Elf64_Ehdr header = {.e_type = ET_REL, .e_machine = EM_X86_64};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_shoff = sizeof header + names.len + contents->len;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    header.e_shstrndx = 1;
    Elf64_Shdr sections[3] = {{0}};
    sections[1].sh_name = 1;
    sections[1].sh_type = SHT_STRTAB;
    sections[1].sh_offset = sizeof header;
    sections[1].sh_size = names.len;
    sections[2].sh_name = 11;
    sections[2].sh_type = SHT_PROGBITS;
    sections[2].sh_offset = sizeof header + names.len;
    sections[2].sh_size = contents->len;
    rh_strbuf_addn(out, &header, sizeof header);
    rh_strbuf_addn(out, names.data, names.len);
    rh_strbuf_addn(out, rh_strbuf_text(contents), contents->len);
    rh_strbuf_addn(out, sections, sizeof sections);
    rh_strbuf_release(&names);
}

static enum rh_objfile_kind inspect(const struct rh_strbuf *file)
{
    struct rh_objfile object;
    rh_objfile_inspect(&object, file->data, file->len);
    return object.kind;
}

static enum rh_objfile_kind inspect_text(const char *text)
{
    struct rh_objfile object;
    rh_objfile_inspect(&object, text, strlen(text));
    return object.kind;
}

static void kinds_go_by_magic(void **state)
{
    (void)state;
    struct rh_strbuf bitcode = RH_STRBUF_INIT;
    add_bitcode(&bitcode, 2);
    assert_int_equal(inspect(&bitcode), RH_OBJFILE_BITCODE);
    assert_int_equal(inspect_text("\xDE\xC0\x17\x0B wrapped"), RH_OBJFILE_BITCODE);
    assert_int_equal(inspect_text("!<arch>\n"), RH_OBJFILE_ARCHIVE);
    assert_int_equal(inspect_text("!<thin>\n"), RH_OBJFILE_ARCHIVE);
    assert_int_equal(inspect_text("GROUP ( libc.so.6 )"), RH_OBJFILE_OTHER);
    assert_int_equal(inspect_text(""), RH_OBJFILE_OTHER);
    assert_int_equal(inspect_text("\177ELF"), RH_OBJFILE_OTHER);
    rh_strbuf_release(&bitcode);
}

static void fat_object_tells_where_its_bitcode_is(void **state)
{
    (void)state;
    struct rh_strbuf bitcode = RH_STRBUF_INIT, file = RH_STRBUF_INIT;
    add_bitcode(&bitcode, 5);
    make_object(&file, ".llvm.lto", &bitcode);
    struct rh_objfile object;
    rh_objfile_inspect(&object, file.data, file.len);
    assert_int_equal(object.kind, RH_OBJFILE_FAT);
    assert_true(rh_objfile_has_bitcode(&object));
    assert_int_equal(object.bitcode_len, bitcode.len);
    assert_memory_equal(file.data + object.bitcode_at, bitcode.data, bitcode.len);
    rh_strbuf_release(&file);
    rh_strbuf_release(&bitcode);
}

static void other_names_are_native(void **state)
{
    (void)state;
    static const char *const names[] = {".text", ".llvm.lto.x", ".llvm.lt", ""};
    struct rh_strbuf bitcode = RH_STRBUF_INIT;
    add_bitcode(&bitcode, 1);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct rh_strbuf file = RH_STRBUF_INIT;
        make_object(&file, names[i], &bitcode);
        assert_int_equal(inspect(&file), RH_OBJFILE_NATIVE);
        rh_strbuf_release(&file);
    }
    rh_strbuf_release(&bitcode);
}

/* What `ld -r` does to two fat objects, and other things that are not one bitcode file. */
static void broken_bitcode_is_seen(void **state)
{
    (void)state;
    struct rh_strbuf contents[4] = {RH_STRBUF_INIT};
    add_bitcode(&contents[0], 3);
    add_bitcode(&contents[0], 4);
    add_bitcode(&contents[1], 3);
    rh_strbuf_truncate(&contents[1], contents[1].len - 4);
    rh_strbuf_add(&contents[2], "text");
    for (size_t i = 0; i < 4; i++) {
        struct rh_strbuf file = RH_STRBUF_INIT;
        make_object(&file, ".llvm.lto", &contents[i]);
        assert_int_equal(inspect(&file), RH_OBJFILE_BROKEN);
        rh_strbuf_release(&file);
        rh_strbuf_release(&contents[i]);
    }
}

static void hidden_bitcode_leaves_a_native_object(void **state)
{
    (void)state;
    struct rh_strbuf bitcode = RH_STRBUF_INIT, file = RH_STRBUF_INIT, copy = RH_STRBUF_INIT;
    add_bitcode(&bitcode, 5);
    make_object(&file, ".llvm.lto", &bitcode);
    struct rh_objfile object;
    rh_objfile_inspect(&object, file.data, file.len);
    rh_objfile_hide_bitcode(&object, file.data, file.len, &copy);
    assert_int_equal(copy.len, file.len);
    assert_int_equal(inspect(&copy), RH_OBJFILE_NATIVE);
    rh_strbuf_release(&copy);
    rh_strbuf_release(&file);
    rh_strbuf_release(&bitcode);
}

/* Whatever is wrong with a file, reading it stays inside it; the sanitizers watch. */
static void damaged_objects_are_survived(void **state)
{
    (void)state;
    struct rh_strbuf bitcode = RH_STRBUF_INIT, file = RH_STRBUF_INIT;
    add_bitcode(&bitcode, 2);
    make_object(&file, ".llvm.lto", &bitcode);
    for (size_t len = 0; len < file.len; len++) {
        struct rh_objfile object;
        char *exact = malloc(len + 1);
        memcpy(exact, file.data, len);
        rh_objfile_inspect(&object, exact, len);
        assert_int_not_equal(object.kind, RH_OBJFILE_FAT);
        free(exact);
    }
    for (size_t at = SELFMAG; at < file.len; at++) {
        char *changed = malloc(file.len);
        memcpy(changed, file.data, file.len);
        changed[at] = (char)~changed[at];
        struct rh_objfile object;
        rh_objfile_inspect(&object, changed, file.len);
        assert_true(object.bitcode_at + object.bitcode_len <= file.len);
        free(changed);
    }
    rh_strbuf_release(&file);
    rh_strbuf_release(&bitcode);
}

/* More sections than the header's 16 bits can count: the number stands in the first section. */
static void many_sections_are_counted_elsewhere(void **state)
{
    (void)state;
    struct rh_strbuf bitcode = RH_STRBUF_INIT, file = RH_STRBUF_INIT;
    add_bitcode(&bitcode, 1);
    make_object(&file, ".llvm.lto", &bitcode);
    Elf64_Ehdr header;
    Elf64_Shdr first = {.sh_size = 3, .sh_link = 1};
    memcpy(&header, file.data, sizeof header);
    header.e_shnum = 0;
    header.e_shstrndx = SHN_XINDEX;
    memcpy(file.data, &header, sizeof header);
    memcpy(file.data + header.e_shoff, &first, sizeof first);
    assert_int_equal(inspect(&file), RH_OBJFILE_FAT);
    rh_strbuf_release(&file);
    rh_strbuf_release(&bitcode);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_go_by_magic),
        cmocka_unit_test(fat_object_tells_where_its_bitcode_is),
        cmocka_unit_test(other_names_are_native),
        cmocka_unit_test(broken_bitcode_is_seen),
        cmocka_unit_test(hidden_bitcode_leaves_a_native_object),
        cmocka_unit_test(damaged_objects_are_survived),
        cmocka_unit_test(many_sections_are_counted_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
