/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of packed rows and of their cache: what goes in comes out, and nothing else ever does. */
#include "stack/cache.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct rt_row_slot rt_row_slots[1 << RT_ROW_SLOT_BITS];

static struct rt_cfi_row simple_row(uint8_t reg, int32_t offset)
{
    struct rt_cfi_row row = {.words = {0}};
    row.cfa_rule = RT_CFI_SUM;
    row.cfa_register = reg;
    row.cfa_value = offset;
    row.return_register = RT_REGISTER_PC;
    row.rule[RT_REGISTER_PC] = RT_CFI_SAVED;
    row.value[RT_REGISTER_PC] = RT_RETURN_OFFSET;
    return row;
}

static void save(struct rt_cfi_row *row, int reg, int32_t at)
{
    row->rule[reg] = RT_CFI_SAVED;
    row->value[reg] = at;
}

static void test_simple_rows_come_back(void **state)
{
    (void)state;
    static const uint8_t registers[RT_SAVED_COUNT] = RT_SAVED_REGISTERS;
    static const int32_t offsets[] = {8, 16, 0, -8, 4096, INT32_MAX, INT32_MIN};
    for (size_t o = 0; o < sizeof offsets / sizeof offsets[0]; o++)
        for (uint8_t reg = 0; reg < RT_REGISTER_COUNT; reg++)
            for (uint32_t saved = 0; saved < 1 << RT_SAVED_COUNT; saved++) {
                struct rt_cfi_row row = simple_row(reg, offsets[o]);
                struct rt_row p;
                for (int i = 0; i < RT_SAVED_COUNT; i++)
                    if (saved >> i & 1)
                        save(&row, registers[i], -16 - 8 * i * 39);
                assert_true(rt_row_pack(&row, &p));
                assert_int_equal(rt_row_kind(&p), RT_ROW_STEP);
                assert_int_equal(rt_row_register(&p), reg);
                assert_int_equal(rt_row_offset(&p), offsets[o]);
                for (uint32_t i = 0; i < RT_SAVED_COUNT; i++)
                    assert_int_equal(rt_row_saved(&p, i), saved >> i & 1 ? 16 + 8 * i * 39 : 0);
            }
}

static void test_outermost_rows(void **state)
{
    (void)state;
    struct rt_row p;
    struct rt_cfi_row row = simple_row(7, 8);
    row.rule[RT_REGISTER_PC] = RT_CFI_LOST;
    assert_true(rt_row_pack(&row, &p));
    assert_int_equal(rt_row_kind(&p), RT_ROW_OUTERMOST);
}

static void expect_refused(struct rt_cfi_row row)
{
    struct rt_row p;
    assert_false(rt_row_pack(&row, &p));
}

static void test_other_rows_are_refused(void **state)
{
    (void)state;
    struct rt_cfi_row row = simple_row(7, 8);
    row.is_signal = true;
    expect_refused(row);
    row = simple_row(7, 8);
    row.cfa_rule = RT_CFI_EXPRESSION;
    expect_refused(row);
    row = simple_row(7, 8);
    row.return_register = 11;
    expect_refused(row);
    row = simple_row(7, 8);
    row.value[RT_REGISTER_PC] = -16;
    expect_refused(row);
    row = simple_row(7, 8);
    row.rule[RT_REGISTER_STACK] = RT_CFI_SUM;
    expect_refused(row);
    row = simple_row(7, 8);
    row.rule[10] = RT_CFI_SAVED; /* a register that functions do not keep */
    expect_refused(row);
    static const int32_t places[] = {0, 8, -12, -256 * 8, INT32_MIN};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        row = simple_row(7, 8);
        save(&row, 12, places[i]);
        expect_refused(row);
    }
    static const uint8_t rules[] = {RT_CFI_LOST, RT_CFI_SUM, RT_CFI_REGISTER, RT_CFI_EXPRESSION,
                                    RT_CFI_SAVED_EXPRESSION};
    for (size_t i = 0; i < sizeof rules; i++) {
        row = simple_row(7, 8);
        row.rule[3] = rules[i];
        row.value[3] = -16;
        expect_refused(row);
    }
}

static void test_cache_knows_pc_and_generation(void **state)
{
    (void)state;
    struct rt_row in = {.base = 0x1234, .saved = 0x5678}, out;
    assert_false(rt_row_get(0x400000, 1, &out));
    rt_row_put(0x400000, 1, &in);
    assert_true(rt_row_get(0x400000, 1, &out));
    assert_int_equal(out.base, in.base);
    assert_int_equal(out.saved, in.saved);
    assert_false(rt_row_get(0x400000, 2, &out));
    /* Another address with the same slot. */
    uintptr_t other = 0x400001;
    while (rt_row_slot(other) != rt_row_slot(0x400000))
        other++;
    assert_false(rt_row_get(other, 1, &out));
    rt_row_put(other, 1, &in);
    assert_true(rt_row_get(other, 1, &out));
    assert_false(rt_row_get(0x400000, 1, &out));
}

static void test_slot_being_written_is_left_alone(void **state)
{
    (void)state;
    struct rt_row in = {.base = 1, .saved = 2}, out;
    struct rt_row_slot *slot = rt_row_slot(0x777000);
    rt_row_put(0x777000, 1, &in);
    atomic_fetch_or(&slot->version, 1);
    assert_false(rt_row_get(0x777000, 1, &out));
    rt_row_put(0x777000, 1, &in);
    assert_false(rt_row_get(0x777000, 1, &out));
}

/* --- under threads --- */

enum { ADDRESSES = 64, ROUNDS = 3000000, THREADS = 4 };
static uintptr_t rivals[ADDRESSES]; /* all of one slot */

/* Each word tells the address and the generation, so that a mix of two rows shows. */
static struct rt_row row_of(uintptr_t pc, uint32_t generation)
{
    return (struct rt_row){.base = pc * 31 + generation, .saved = ~pc * 17 ^ generation};
}

static void *hammer(void *arg)
{
    uint64_t random = (uintptr_t)arg * 2654435761u + 1;
    long hits = 0;
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        uintptr_t pc = rivals[random >> 40 & (ADDRESSES - 1)];
        uint32_t generation = 1 + (random >> 50 & 1);
        struct rt_row row = row_of(pc, generation), got;
        if (random >> 60 < 8)
            rt_row_put(pc, generation, &row);
        if (!rt_row_get(pc, generation, &got))
            continue;
        hits++;
        if (got.base != row.base || got.saved != row.saved)
            return NULL;
    }
    return (void *)(hits + 1);
}

static void test_no_wrong_row_under_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    uintptr_t pc = 0x900000;
    for (int i = 0; i < ADDRESSES; i++, pc++) {
        while (rt_row_slot(pc) != rt_row_slot(0x900000))
            pc++;
        rivals[i] = pc;
    }
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, hammer, (void *)i);
    long all = 0;
    for (int i = 0; i < THREADS; i++) {
        void *hits;
        pthread_join(threads[i], &hits);
        assert_non_null(hits); /* else a row was another's */
        all += (long)hits - 1;
    }
    /* Of all together: while one thread is stopped in the middle of writing, others find nothing.
     */
    assert_true(all > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simple_rows_come_back),
        cmocka_unit_test(test_outermost_rows),
        cmocka_unit_test(test_other_rows_are_refused),
        cmocka_unit_test(test_cache_knows_pc_and_generation),
        cmocka_unit_test(test_slot_being_written_is_left_alone),
        cmocka_unit_test(test_no_wrong_row_under_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
