/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged call frame information: copies of the tables of this process's images with bytes changed
 * at random (from a fixed seed) must never lead outside the copy, into an endless loop or into
 * undefined behaviour. Built with sanitizers, which is what makes the first and the last visible.
 */
#include "stack/cfi.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 30000, HEADER = 12 };

static uint64_t random_state = 88172645463325252;
static uint64_t draw(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

/* From .eh_frame_hdr to the end of its segment, in memory of exactly that size. */
static int copy_tables(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    struct rt_cfi_tables *t = arg;
    const ElfW(Phdr) *header = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
            header = &info->dlpi_phdr[i];
    for (int i = 0; header && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || header->p_vaddr < p->p_vaddr ||
            header->p_vaddr >= p->p_vaddr + p->p_filesz || header->p_memsz < t->header_size)
            continue;
        free((void *)(uintptr_t)t->bytes);
        t->size = p->p_vaddr + p->p_filesz - header->p_vaddr;
        t->address = info->dlpi_addr + header->p_vaddr;
        t->header_size = header->p_memsz;
        uint8_t *copy = malloc(t->size);
        memcpy(copy, (const void *)t->address, t->size);
        t->bytes = copy;
    }
    return 0; /* the largest of all in the end */
}

static uint32_t read_word(const struct rt_cfi_tables *t, size_t at)
{
    uint32_t value;
    assert_true(at + 4 <= t->size);
    memcpy(&value, t->bytes + at, 4);
    return value;
}

/* Memory with anything in it, and sometimes none. */
static bool read_anything(struct rt_cfi_memory *memory, uintptr_t address, unsigned size,
                          uint64_t *value)
{
    (void)memory;
    *value = draw(UINT64_MAX) ^ address;
    return size <= 8 && draw(10) != 0;
}

/* Damages the function's entry, its CIE, its line in the index, or the header. */
static size_t choose_place(const struct rt_cfi_tables *t, size_t line)
{
    size_t fde = read_word(t, HEADER + 8 * line + 4);
    size_t cie = fde + 4 - read_word(t, fde + 4);
    const size_t starts[] = {fde, fde, fde, cie, cie, HEADER + 8 * line, 0};
    const size_t sizes[] = {48, 48, 16, 32, 32, 8, HEADER};
    uint64_t which = draw(7);
    size_t place = starts[which] + draw(sizes[which]);
    return place < t->size ? place : 0;
}

static void use(const struct rt_cfi_tables *t, uintptr_t pc, long outcomes[3], long steps[4])
{
    struct rt_cfi_memory memory = {read_anything};
    struct rt_registers callee = {.known = (uint32_t)draw(1 << RT_REGISTER_COUNT)}, caller;
    struct rt_cfi_row row;
    for (int i = 0; i < RT_REGISTER_COUNT; i++)
        callee.value[i] = draw(UINT64_MAX);
    enum rt_cfi_found found = rt_cfi_find(t, pc, &row);
    outcomes[found]++;
    if (found == RT_CFI_ROW)
        steps[rt_cfi_apply(t, &row, &callee, &memory, &caller)]++;
}

static void test_damage_is_survived(void **state)
{
    (void)state;
    struct rt_cfi_tables t = {.bytes = NULL};
    long outcomes[3] = {0}, steps[4] = {0};
    dl_iterate_phdr(copy_tables, &t);
    uint8_t *bytes = (uint8_t *)(uintptr_t)t.bytes;
    size_t lines = read_word(&t, 8);
    assert_true(lines > 1000);
    for (int round = 0; round < ROUNDS; round++) {
        size_t line = draw(lines);
        uintptr_t pc = t.address + (uintptr_t)(int32_t)read_word(&t, HEADER + 8 * line) + draw(80);
        struct {
            size_t place;
            uint8_t byte;
        } undo[6];
        int count = 1 + (int)draw(6);
        for (int i = 0; i < count; i++) {
            undo[i].place = choose_place(&t, line);
            undo[i].byte = bytes[undo[i].place];
        }
        for (int i = 0; i < count; i++)
            bytes[undo[i].place] = (uint8_t)draw(256);
        use(&t, pc, outcomes, steps);
        for (int i = count - 1; i >= 0; i--)
            bytes[undo[i].place] = undo[i].byte;
    }
    for (int i = 0; i < 3; i++)
        assert_true(outcomes[i] > ROUNDS / 100);
    assert_true(steps[RT_CFI_STEPPED] && steps[RT_CFI_LACKING] && steps[RT_CFI_FAILED]);
    free(bytes);
}

/* Every row of an image, cut off at every length: what is not there is not read. */
static void test_cut_tables_are_survived(void **state)
{
    (void)state;
    struct rt_cfi_tables t = {.bytes = NULL};
    long outcomes[3] = {0}, steps[4] = {0};
    dl_iterate_phdr(copy_tables, &t);
    for (int round = 0; round < 2000; round++) {
        struct rt_cfi_tables cut = t;
        size_t line = draw(read_word(&t, 8));
        size_t fde = read_word(&t, HEADER + 8 * line + 4);
        uintptr_t pc = t.address + (uintptr_t)(int32_t)read_word(&t, HEADER + 8 * line);
        cut.size = draw(2) ? fde + draw(40) : draw(t.size);
        uint8_t *copy = malloc(cut.size);
        memcpy(copy, t.bytes, cut.size);
        cut.bytes = copy;
        use(&cut, pc, outcomes, steps);
        free(copy);
    }
    assert_true(outcomes[RT_CFI_BAD] > 500);
    free((void *)(uintptr_t)t.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage_is_survived),
        cmocka_unit_test(test_cut_tables_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
