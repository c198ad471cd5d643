/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the rows of call frame information of an ELF file as readelf does, for the addresses on
 * standard input: `rows FILE < ADDRESSES` gives one line for each, "CFA rax rdx ... rip".
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "stack/cfi.h"

static const char *const names[RT_REGISTER_COUNT] = {
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
    "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "ra",
};

static const uint8_t *map_file(const char *path)
{
    struct stat s;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &s) < 0)
        return NULL;
    void *bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    return bytes == MAP_FAILED ? NULL : bytes;
}

static bool find_tables(const uint8_t *file, struct rt_cfi_tables *t)
{
    const Elf64_Ehdr *e = (const void *)file;
    const Elf64_Phdr *p = (const void *)(file + e->e_phoff), *header = NULL;
    for (int i = 0; i < e->e_phnum; i++)
        if (p[i].p_type == PT_GNU_EH_FRAME)
            header = &p[i];
    for (int i = 0; header && i < e->e_phnum; i++)
        if (p[i].p_type == PT_LOAD && header->p_vaddr >= p[i].p_vaddr &&
            header->p_vaddr < p[i].p_vaddr + p[i].p_filesz) {
            *t = (struct rt_cfi_tables){
                .bytes = file + p[i].p_offset,
                .size = p[i].p_filesz,
                .address = p[i].p_vaddr,
                .header = header->p_vaddr - p[i].p_vaddr,
                .header_size = header->p_memsz,
            };
            return true;
        }
    return false;
}

static void print_rule(const struct rt_cfi_row *row, int reg)
{
    switch (row->rule[reg]) {
    case RT_CFI_DEFAULT:
    case RT_CFI_LOST:
        printf(" u");
        break;
    case RT_CFI_SAME:
        printf(" s");
        break;
    case RT_CFI_SAVED:
        printf(" c%+d", row->value[reg]);
        break;
    case RT_CFI_SUM:
        printf(" v%+d", row->value[reg]);
        break;
    case RT_CFI_REGISTER:
        printf(" %s", names[row->value[reg]]);
        break;
    case RT_CFI_SAVED_EXPRESSION:
        printf(" exp");
        break;
    default:
        printf(" vexp");
    }
}

int main(int count, char **arguments)
{
    struct rt_cfi_tables t;
    const uint8_t *file = count == 2 ? map_file(arguments[1]) : NULL;
    uint64_t pc;
    if (!file || !find_tables(file, &t)) {
        fprintf(stderr, "usage: rows FILE, with .eh_frame_hdr in it\n");
        return EXIT_FAILURE;
    }
    while (scanf("%" SCNx64, &pc) == 1) {
        struct rt_cfi_row row;
        if (rt_cfi_find(&t, pc, &row) != RT_CFI_ROW) {
            printf("none\n");
            continue;
        }
        if (row.cfa_rule == RT_CFI_EXPRESSION)
            printf("exp");
        else
            printf("%s%+d", names[row.cfa_register], row.cfa_value);
        for (int reg = 0; reg < RT_REGISTER_COUNT; reg++)
            print_rule(&row, reg);
        printf("\n");
    }
    return EXIT_SUCCESS;
}
