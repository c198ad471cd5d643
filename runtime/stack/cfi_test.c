/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of call frame information, on tables made by hand, byte for byte. */
#include "stack/cfi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum {
    TEXT = 0x500000,   /* where the tables say the code is */
    TABLES = 0x400000, /* where they say they are themselves */
    FUNCTION_SIZE = 0x100,
};

/* The tables of one image in the making: .eh_frame_hdr, then .eh_frame. */
struct maker {
    uint8_t bytes[2048];
    size_t size;
};

static void add(struct maker *m, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        m->bytes[m->size++] = (uint8_t)(value >> (8 * i));
}

static void patch(struct maker *m, size_t at, uint64_t value)
{
    for (size_t i = 0; i < 4; i++)
        m->bytes[at + i] = (uint8_t)(value >> (8 * i));
}

static void add_bytes(struct maker *m, const uint8_t *bytes, size_t size)
{
    memcpy(m->bytes + m->size, bytes, size);
    m->size += size;
}

/* Lengths count what follows them. */
static void close_entry(struct maker *m, size_t start)
{
    while (m->size % 4)
        add(m, 0, 1);
    patch(m, start, m->size - start - 4);
}

/* Rows of a function at its first instruction: CFA is rsp + 8, return address below. */
static const uint8_t at_entry[] = {0x0c, 7, 8, 0x90, 1};

struct cie {
    const char *letters;
    const uint8_t *data; /* of the letters */
    size_t data_size;
    uint8_t version;
};
static const uint8_t relative = 0x1b;
static const struct cie plain = {"zR", &relative, 1, 1};

static size_t add_cie(struct maker *m, const struct cie *c)
{
    size_t start = m->size;
    add(m, 0, 8);
    add(m, c->version, 1);
    add_bytes(m, (const uint8_t *)c->letters, strlen(c->letters) + 1);
    add(m, 1, 1);
    add(m, 0x78, 1); /* -8 */
    add(m, 16, 1);
    if (*c->letters == 'z')
        add(m, c->data_size, 1);
    add_bytes(m, c->data, c->data_size);
    add_bytes(m, at_entry, sizeof at_entry);
    close_entry(m, start);
    return start;
}

/* The function begins at `address`, written as `size` bytes relative to itself or not. */
static size_t add_fde(struct maker *m, size_t cie, uintptr_t address, size_t size, bool is_relative,
                      bool has_length, const uint8_t *program, size_t program_size)
{
    size_t start = m->size;
    add(m, 0, 4);
    add(m, m->size - cie, 4);
    add(m, address - (is_relative ? TABLES + m->size : 0), size);
    add(m, FUNCTION_SIZE, size);
    if (has_length)
        add(m, 0, 1);
    add_bytes(m, program, program_size);
    close_entry(m, start);
    return start;
}

static void begin(struct maker *m, unsigned entries)
{
    memset(m, 0, sizeof *m);
    add(m, 1, 1);
    add(m, 0x1b, 1);
    add(m, 0x03, 1);
    add(m, entries ? 0x3b : 0xff, 1);
    add(m, 0, 4); /* distance to .eh_frame, of which only lists make use */
    add(m, entries, 4);
    m->size += 8 * (size_t)entries;
    patch(m, 4, m->size - 4);
}

static void set_index(struct maker *m, unsigned i, uintptr_t address, size_t fde)
{
    patch(m, 12 + 8 * i, address - TABLES);
    patch(m, 16 + 8 * i, fde);
}

static struct rt_cfi_tables tables_of(const struct maker *m)
{
    size_t list;
    memcpy(&list, m->bytes + 4, 4);
    return (struct rt_cfi_tables){.bytes = m->bytes,
                                  .size = m->size,
                                  .address = TABLES,
                                  .header_size = (list & 0xffffffff) + 4};
}

/* A row of a function with this program. */
static enum rt_cfi_found find(const uint8_t *program, size_t size, uintptr_t offset,
                              struct rt_cfi_row *row, struct maker *m)
{
    begin(m, 1);
    size_t cie = add_cie(m, &plain);
    size_t fde = add_fde(m, cie, TEXT, 4, true, true, program, size);
    add(m, 0, 4);
    set_index(m, 0, TEXT, fde);
    struct rt_cfi_tables t = tables_of(m);
    return rt_cfi_find(&t, TEXT + offset, row);
}
#define FIND(offset, row, ...)                                                                     \
    find((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), offset, row,      \
         &(struct maker){.size = 0})

static void assert_rule(const struct rt_cfi_row *row, int reg, int rule, int32_t value)
{
    assert_int_equal(row->rule[reg], rule);
    assert_int_equal(row->value[reg], value);
}

static void assert_cfa(const struct rt_cfi_row *row, int reg, int32_t offset)
{
    assert_int_equal(row->cfa_rule, RT_CFI_SUM);
    assert_int_equal(row->cfa_register, reg);
    assert_int_equal(row->cfa_value, offset);
}

static void test_rows_change_along_the_function(void **state)
{
    (void)state;
    struct rt_cfi_row row;
    /* push %rbp; mov %rsp, %rbp; ...; leave; (rest after a jump) */
    static const uint8_t program[] = {0x41, 0x0e, 16,   0x86, 2,    0x43, 0x0d, 6,    0x02,
                                      0x40, 0x0a, 0x0c, 7,    8,    0x41, 0x0b, 0x03, 0x10,
                                      0x00, 0xc6, 0x04, 0x01, 0x00, 0x00, 0x00, 0x83, 3};
    static const struct {
        uintptr_t offset;
        int reg, cfa;
        int rbp, rbx; /* rules */
    } expected[] = {
        {0, 7, 8, RT_CFI_DEFAULT, RT_CFI_DEFAULT},   {1, 7, 16, RT_CFI_SAVED, RT_CFI_DEFAULT},
        {3, 7, 16, RT_CFI_SAVED, RT_CFI_DEFAULT},    {4, 6, 16, RT_CFI_SAVED, RT_CFI_DEFAULT},
        {67, 6, 16, RT_CFI_SAVED, RT_CFI_DEFAULT},   {68, 7, 8, RT_CFI_SAVED, RT_CFI_DEFAULT},
        {69, 6, 16, RT_CFI_SAVED, RT_CFI_DEFAULT},   {84, 6, 16, RT_CFI_SAVED, RT_CFI_DEFAULT},
        {85, 6, 16, RT_CFI_DEFAULT, RT_CFI_DEFAULT}, {86, 6, 16, RT_CFI_DEFAULT, RT_CFI_SAVED},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct maker m;
        assert_int_equal(find(program, sizeof program, expected[i].offset, &row, &m), RT_CFI_ROW);
        assert_cfa(&row, expected[i].reg, expected[i].cfa);
        assert_int_equal(row.rule[6], expected[i].rbp);
        assert_int_equal(row.rule[3], expected[i].rbx);
        assert_rule(&row, 16, RT_CFI_SAVED, -8);
    }
}

static void test_every_rule(void **state)
{
    (void)state;
    struct rt_cfi_row row;
    assert_int_equal(FIND(0, &row, 0x05, 3, 2), RT_CFI_ROW);
    assert_rule(&row, 3, RT_CFI_SAVED, -16);
    assert_int_equal(FIND(0, &row, 0x11, 12, 0x7d), RT_CFI_ROW); /* -3 */
    assert_rule(&row, 12, RT_CFI_SAVED, 24);
    assert_int_equal(FIND(0, &row, 0x2f, 12, 3), RT_CFI_ROW);
    assert_rule(&row, 12, RT_CFI_SAVED, 24);
    assert_int_equal(FIND(0, &row, 0x14, 7, 1), RT_CFI_ROW);
    assert_rule(&row, 7, RT_CFI_SUM, -8);
    assert_int_equal(FIND(0, &row, 0x15, 7, 0x7f), RT_CFI_ROW);
    assert_rule(&row, 7, RT_CFI_SUM, 8);
    assert_int_equal(FIND(0, &row, 0x07, 16), RT_CFI_ROW);
    assert_int_equal(row.rule[16], RT_CFI_LOST);
    assert_int_equal(FIND(0, &row, 0x08, 3), RT_CFI_ROW);
    assert_int_equal(row.rule[3], RT_CFI_SAME);
    assert_int_equal(FIND(0, &row, 0x09, 16, 11), RT_CFI_ROW);
    assert_rule(&row, 16, RT_CFI_REGISTER, 11);
    assert_int_equal(FIND(0, &row, 0x07, 16, 0x06, 16), RT_CFI_ROW);
    assert_rule(&row, 16, RT_CFI_SAVED, -8);
    assert_int_equal(FIND(0, &row, 0x12, 6, 0x7e), RT_CFI_ROW);
    assert_cfa(&row, 6, 16);
    assert_int_equal(FIND(0, &row, 0x13, 0x7c), RT_CFI_ROW);
    assert_cfa(&row, 7, 32);
    assert_int_equal(FIND(0, &row, 0x10, 3, 2, 0x77, 0, 0x2e, 16, 0), RT_CFI_ROW);
    assert_int_equal(row.rule[3], RT_CFI_SAVED_EXPRESSION);
    assert_int_equal(FIND(0, &row, 0x16, 16, 1, 0x96), RT_CFI_ROW);
    assert_int_equal(row.rule[16], RT_CFI_EXPRESSION);
    /* Vector registers are saved by some; we do not follow them. */
    assert_int_equal(FIND(0, &row, 0x05, 40, 2, 0x8d, 2), RT_CFI_ROW);
    assert_rule(&row, 13, RT_CFI_SAVED, -16);
}

static void test_nonsense_is_bad(void **state)
{
    (void)state;
    struct rt_cfi_row row;
    assert_int_equal(FIND(0, &row, 0x3f), RT_CFI_BAD);           /* no such instruction */
    assert_int_equal(FIND(0, &row, 0x0b), RT_CFI_BAD);           /* nothing remembered */
    assert_int_equal(FIND(0, &row, 0x0c, 17, 0), RT_CFI_BAD);    /* no such register */
    assert_int_equal(FIND(0, &row, 0x0f, 99, 0, 0), RT_CFI_BAD); /* longer than the entry */
    assert_int_equal(FIND(0, &row, 0x0f, 0, 0x0e, 8), RT_CFI_BAD);
    assert_int_equal(FIND(0, &row, 0x0e, 0xff, 0xff, 0xff, 0xff, 0x1f), RT_CFI_BAD);
    assert_int_equal(FIND(0, &row, 0x83, 0x80, 0x80), RT_CFI_BAD); /* a number without end */
    assert_int_equal(FIND(0, &row, 10, 10, 10, 10, 10, 10, 10, 10), RT_CFI_ROW);
    assert_int_equal(FIND(0, &row, 10, 10, 10, 10, 10, 10, 10, 10, 10), RT_CFI_BAD);
}

static void test_pc_outside_has_no_row(void **state)
{
    (void)state;
    struct rt_cfi_row row;
    assert_int_equal(FIND((uintptr_t)-1, &row, 0), RT_CFI_NONE);
    assert_int_equal(FIND(FUNCTION_SIZE - 1, &row, 0), RT_CFI_ROW);
    assert_int_equal(FIND(FUNCTION_SIZE, &row, 0), RT_CFI_NONE);
}

static void test_index_finds_the_right_function(void **state)
{
    (void)state;
    enum { COUNT = 9 };
    struct maker m;
    begin(&m, COUNT);
    size_t cie = add_cie(&m, &plain);
    for (unsigned i = 0; i < COUNT; i++) {
        uint8_t program[] = {0x0e, (uint8_t)(8 * i)};
        uintptr_t address = TEXT + i * 2 * FUNCTION_SIZE;
        set_index(&m, i, address, add_fde(&m, cie, address, 4, true, true, program, 2));
    }
    add(&m, 0, 4);
    struct rt_cfi_tables t = tables_of(&m);
    for (unsigned i = 0; i < COUNT; i++) {
        struct rt_cfi_row row;
        uintptr_t address = TEXT + i * 2 * FUNCTION_SIZE;
        assert_int_equal(rt_cfi_find(&t, address, &row), RT_CFI_ROW);
        assert_cfa(&row, 7, (int32_t)(8 * i));
        assert_int_equal(rt_cfi_find(&t, address + FUNCTION_SIZE - 1, &row), RT_CFI_ROW);
        assert_cfa(&row, 7, (int32_t)(8 * i));
        assert_int_equal(rt_cfi_find(&t, address + FUNCTION_SIZE, &row), RT_CFI_NONE);
    }
}

/* Without index, with all kinds of entries, one after the other. */
static void test_list_and_encodings(void **state)
{
    (void)state;
    static const uint8_t wide = 0x00, wide_relative = 0x1c, narrow = 0x03;
    static const uint8_t everything[] = {0x9b, 1, 2, 3, 4, 0x1b, 0x1b};
    static const struct {
        struct cie cie;
        size_t size;
        bool is_relative, has_length, is_signal;
    } kinds[] = {
        {{"", &relative, 0, 1}, 8, false, false, false},
        {{"zR", &wide, 1, 3}, 8, false, true, false},
        {{"zR", &wide_relative, 1, 1}, 8, true, true, false},
        {{"zR", &narrow, 1, 1}, 4, false, true, false},
        {{"zRS", &relative, 1, 1}, 4, true, true, true},
        {{"zPLR", everything, sizeof everything, 1}, 4, true, true, false},
    };
    enum { COUNT = sizeof kinds / sizeof kinds[0] };
    struct maker m;
    begin(&m, 0);
    for (unsigned i = 0; i < COUNT; i++) {
        uint8_t program[] = {0x0e, (uint8_t)(8 * i)};
        size_t cie = add_cie(&m, &kinds[i].cie);
        add_fde(&m, cie, TEXT + i * FUNCTION_SIZE, kinds[i].size, kinds[i].is_relative,
                kinds[i].has_length, program, 2);
    }
    add(&m, 0, 4);
    struct rt_cfi_tables t = tables_of(&m);
    for (unsigned i = 0; i < COUNT; i++) {
        struct rt_cfi_row row;
        assert_int_equal(rt_cfi_find(&t, TEXT + i * FUNCTION_SIZE + 5, &row), RT_CFI_ROW);
        assert_cfa(&row, 7, (int32_t)(8 * i));
        assert_int_equal(row.is_signal, kinds[i].is_signal);
    }
    struct rt_cfi_row row;
    assert_int_equal(rt_cfi_find(&t, TEXT + COUNT * FUNCTION_SIZE, &row), RT_CFI_NONE);
}

static void test_unknown_headers_are_bad(void **state)
{
    (void)state;
    struct rt_cfi_row row;
    struct maker m;
    static const uint8_t program[] = {0};
    assert_int_equal(find(program, 1, 0, &row, &m), RT_CFI_ROW);
    for (size_t at = 0; at < 3; at++) {
        struct maker damaged = m;
        damaged.bytes[at] = 0x77;
        struct rt_cfi_tables t = tables_of(&m);
        t.bytes = damaged.bytes;
        assert_int_equal(rt_cfi_find(&t, TEXT, &row), RT_CFI_BAD);
    }
    struct rt_cfi_tables t = tables_of(&m);
    t.header = m.size + 1;
    assert_int_equal(rt_cfi_find(&t, TEXT, &row), RT_CFI_BAD);
    t = tables_of(&m);
    t.header_size = 19; /* cuts the index */
    assert_int_equal(rt_cfi_find(&t, TEXT, &row), RT_CFI_BAD);
}

/* --- expressions --- */

/* Memory of 64 words at 0x1000 that hold their own number times 16. */
static bool read_words(struct rt_cfi_memory *memory, uintptr_t address, unsigned size,
                       uint64_t *value)
{
    (void)memory;
    if (address < 0x1000 || address - 0x1000 > 64 * 8 - size)
        return false;
    uint64_t word = (address - 0x1000) / 8 * 16;
    *value = size == 8 ? word : word & ((UINT64_C(1) << (8 * size)) - 1);
    return true;
}
static struct rt_cfi_memory words = {read_words};

static struct rt_registers some_registers(void)
{
    struct rt_registers r = {.known = 0x1ffff & ~(1u << 13)};
    for (int i = 0; i < RT_REGISTER_COUNT; i++)
        r.value[i] = 0x1000 + (uint64_t)i * 8;
    return r;
}

static enum rt_cfi_step evaluate(const uint8_t *expression, size_t size, uint64_t *value)
{
    uint8_t bytes[128] = {(uint8_t)size};
    struct rt_registers r = some_registers();
    uint64_t start = 5;
    memcpy(bytes + 1, expression, size);
    struct rt_cfi_tables t = {.bytes = bytes, .size = size + 1};
    return rt_cfi_evaluate(&t, 0, &r, &words, &start, value);
}
#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define EXPECT(expected, ...)                                                                      \
    do {                                                                                           \
        uint64_t result = 0xbad;                                                                   \
        assert_int_equal(evaluate(BYTES(__VA_ARGS__), &result), RT_CFI_STEPPED);                   \
        assert_int_equal(result, (uint64_t)(expected));                                            \
    } while (0)
#define EXPECT_END(how, ...)                                                                       \
    do {                                                                                           \
        uint64_t result;                                                                           \
        assert_int_equal(evaluate(BYTES(__VA_ARGS__), &result), how);                              \
    } while (0)

static void test_constants(void **state)
{
    (void)state;
    EXPECT(5, 0x96);
    EXPECT(0x0807060504030201, 0x03, 1, 2, 3, 4, 5, 6, 7, 8);
    EXPECT(0xfe, 0x08, 0xfe);
    EXPECT(-2, 0x09, 0xfe);
    EXPECT(0xfffe, 0x0a, 0xfe, 0xff);
    EXPECT(-2, 0x0b, 0xfe, 0xff);
    EXPECT(0xfffffffe, 0x0c, 0xfe, 0xff, 0xff, 0xff);
    EXPECT(-2, 0x0d, 0xfe, 0xff, 0xff, 0xff);
    EXPECT(0x8000000000000001, 0x0e, 1, 0, 0, 0, 0, 0, 0, 0x80);
    EXPECT(300, 0x10, 0xac, 0x02);
    EXPECT(-300, 0x11, 0xd4, 0x7d);
    EXPECT(0, 0x30);
    EXPECT(31, 0x4f);
}

static void test_operations(void **state)
{
    (void)state;
    EXPECT(10, 0x12, 0x22);                  /* dup, plus */
    EXPECT(5, 0x31, 0x13);                   /* 1, drop */
    EXPECT(5, 0x31, 0x14);                   /* 1, over */
    EXPECT(5, 0x31, 0x32, 0x15, 2);          /* 1, 2, pick 2 */
    EXPECT(5, 0x31, 0x16);                   /* swap */
    EXPECT(1, 0x31, 0x32, 0x17);             /* 5 1 2 -> 2 5 1 */
    EXPECT(7, 0x31, 0x32, 0x17, 0x13, 0x22); /* ... -> 2 5 -> 7 */
    EXPECT(5, 0x1f, 0x19);                   /* neg, abs */
    EXPECT(~5, 0x20);
    EXPECT(4, 0x36, 0x1a);
    EXPECT(-2, 0x1f, 0x32, 0x1b); /* -5 / 2 */
    EXPECT(2, 0x33, 0x1c);
    EXPECT(2, 0x33, 0x1d);
    EXPECT(15, 0x33, 0x1e);
    EXPECT(7, 0x32, 0x21);
    EXPECT(135, 0x23, 0x82, 0x01); /* plus_uconst 130 */
    EXPECT(20, 0x32, 0x24);
    EXPECT(2, 0x31, 0x25);
    EXPECT(-3, 0x1f, 0x31, 0x26);
    EXPECT(6, 0x33, 0x27);
    EXPECT(0, 0x08, 64, 0x24); /* all bits gone */
    EXPECT(-1, 0x1f, 0x08, 70, 0x26);
}

static void test_comparisons_and_jumps(void **state)
{
    (void)state;
    static const uint8_t operations[] = {0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e};
    static const uint8_t same[] = {1, 1, 0, 1, 0, 0}, greater[] = {0, 1, 1, 0, 0, 1};
    for (size_t i = 0; i < sizeof operations; i++) {
        EXPECT(same[i], 0x35, operations[i]);
        EXPECT(greater[i], 0x34, operations[i]);
        EXPECT(greater[i], 0x09, 0xff, operations[i]);
    }
    EXPECT(5, 0x2f, 1, 0, 0x31);                   /* skip over a 1 */
    EXPECT(5, 0x31, 0x28, 1, 0, 0x37);             /* taken */
    EXPECT(7, 0x30, 0x28, 1, 0, 0x37);             /* not taken */
    EXPECT(0, 0x31, 0x1c, 0x12, 0x28, 0xfa, 0xff); /* counts down to 0 */
}

static void test_registers_and_memory(void **state)
{
    (void)state;
    EXPECT(0x1000 + 7 * 8 + 8, 0x77, 8);
    EXPECT(0x1000 + 16 * 8 - 8, 0x80, 0x78);
    EXPECT(8 * 16, 0x77, 8, 0x06);
    EXPECT(33 * 16 & 0xff, 0x0a, 0x08, 0x11, 0x94, 1);
    EXPECT_END(RT_CFI_LACKING, 0x7d, 0);
    EXPECT_END(RT_CFI_FAILED, 0x90 - 1, 0);
    EXPECT_END(RT_CFI_FAILED, 0x30, 0x06);
    EXPECT_END(RT_CFI_FAILED, 0x77, 0, 0x94, 9);
    EXPECT_END(RT_CFI_FAILED, 0x77, 0, 0x94, 0);
}

static void test_bad_expressions_fail(void **state)
{
    (void)state;
    EXPECT_END(RT_CFI_FAILED, 0x13, 0x13); /* nothing left */
    EXPECT_END(RT_CFI_FAILED, 0x13);       /* no result */
    EXPECT_END(RT_CFI_FAILED, 0x15, 1);    /* deeper than the stack */
    EXPECT_END(RT_CFI_FAILED, 0x30, 0x1b); /* division by 0 */
    EXPECT_END(RT_CFI_FAILED, 0x30, 0x1d);
    EXPECT_END(RT_CFI_FAILED, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 0xff, 0x1b);
    EXPECT_END(RT_CFI_FAILED, 0x2f, 0xfd, 0xff);       /* jumps to itself, for ever */
    EXPECT_END(RT_CFI_FAILED, 0x2f, 0xfc, 0xff);       /* before the beginning */
    EXPECT_END(RT_CFI_FAILED, 0x2f, 1, 0);             /* behind the end */
    EXPECT_END(RT_CFI_FAILED, 0x0e, 1, 2);             /* operand cut off */
    EXPECT_END(RT_CFI_FAILED, 0xff);                   /* no such operation */
    EXPECT_END(RT_CFI_FAILED, 0x12, 0x2f, 0xfc, 0xff); /* fills the stack */
}

/* --- rows applied --- */

static struct rt_cfi_row row_with_cfa(uint8_t reg, int32_t offset)
{
    struct rt_cfi_row row = {.words = {0}};
    row.cfa_rule = RT_CFI_SUM;
    row.cfa_register = reg;
    row.cfa_value = offset;
    row.return_register = 16;
    row.rule[16] = RT_CFI_SAVED;
    row.value[16] = -8;
    return row;
}

static void test_apply_finds_the_caller(void **state)
{
    (void)state;
    struct rt_cfi_tables none = {.bytes = NULL};
    struct rt_registers callee = some_registers(), caller;
    struct rt_cfi_row row = row_with_cfa(6, 0x50); /* 0x1030 + 0x50 */
    row.rule[3] = RT_CFI_SAVED;
    row.value[3] = -0x40; /* 0x1040 */
    row.rule[12] = RT_CFI_REGISTER;
    row.value[12] = 1;
    row.rule[14] = RT_CFI_LOST;
    row.rule[15] = RT_CFI_SAVED;
    row.value[15] = 0x7000; /* cannot be read */
    assert_int_equal(rt_cfi_apply(&none, &row, &callee, &words, &caller), RT_CFI_STEPPED);
    assert_int_equal(caller.value[7], 0x1080);
    assert_int_equal(caller.value[16], 15 * 16);
    assert_int_equal(caller.value[3], 8 * 16);
    assert_int_equal(caller.value[6], callee.value[6]);
    assert_int_equal(caller.value[12], callee.value[1]);
    assert_int_equal(caller.known, 1 << 3 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 16);
}

static void test_apply_says_why_not(void **state)
{
    (void)state;
    struct rt_cfi_tables none = {.bytes = NULL};
    struct rt_registers callee = some_registers(), caller;
    struct rt_cfi_row row = row_with_cfa(13, 16);
    assert_int_equal(rt_cfi_apply(&none, &row, &callee, &words, &caller), RT_CFI_LACKING);
    row = row_with_cfa(7, 16);
    row.rule[16] = RT_CFI_LOST;
    assert_int_equal(rt_cfi_apply(&none, &row, &callee, &words, &caller), RT_CFI_OUTERMOST);
    row.rule[16] = RT_CFI_DEFAULT;
    assert_int_equal(rt_cfi_apply(&none, &row, &callee, &words, &caller), RT_CFI_FAILED);
    row.rule[16] = RT_CFI_REGISTER;
    row.value[16] = 13;
    assert_int_equal(rt_cfi_apply(&none, &row, &callee, &words, &caller), RT_CFI_LACKING);
    row = row_with_cfa(7, 0x7000);
    assert_int_equal(rt_cfi_apply(&none, &row, &callee, &words, &caller), RT_CFI_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_change_along_the_function),
        cmocka_unit_test(test_every_rule),
        cmocka_unit_test(test_nonsense_is_bad),
        cmocka_unit_test(test_pc_outside_has_no_row),
        cmocka_unit_test(test_index_finds_the_right_function),
        cmocka_unit_test(test_list_and_encodings),
        cmocka_unit_test(test_unknown_headers_are_bad),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_comparisons_and_jumps),
        cmocka_unit_test(test_registers_and_memory),
        cmocka_unit_test(test_bad_expressions_fail),
        cmocka_unit_test(test_apply_finds_the_caller),
        cmocka_unit_test(test_apply_says_why_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
