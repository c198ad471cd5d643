/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of growable bit sets. */
#include "base/bitset.h"
#include "base/testing.h"

static void test_empty_set(void **state)
{
    (void)state;
    struct rh_bitset set = RH_BITSET_INIT;
    size_t at = 0, bit;
    assert_false(rh_bitset_test(&set, 0));
    assert_false(rh_bitset_test(&set, SIZE_MAX));
    assert_int_equal(rh_bitset_count(&set), 0);
    assert_false(rh_bitset_next(&set, &at, &bit));
    assert_null(set.words);
    rh_bitset_release(&set);
}

static void test_set_at_word_borders(void **state)
{
    (void)state;
    static const size_t bits[] = {0, 1, 62, 63, 64, 65, 127, 128, 1000, 100000};
    const size_t count = sizeof bits / sizeof bits[0];
    struct rh_bitset set = RH_BITSET_INIT;
    for (size_t i = 0; i < count; i++) {
        assert_false(rh_bitset_test(&set, bits[i]));
        assert_true(rh_bitset_set(&set, bits[i]));
        assert_false(rh_bitset_set(&set, bits[i]));
        assert_true(rh_bitset_test(&set, bits[i]));
        assert_int_equal(rh_bitset_count(&set), i + 1);
    }
    size_t at = 0, bit;
    for (size_t i = 0; i < count; i++) {
        assert_true(rh_bitset_next(&set, &at, &bit));
        assert_int_equal(bit, bits[i]);
    }
    assert_false(rh_bitset_next(&set, &at, &bit));
    rh_bitset_release(&set);
}

/* A worklist: bits set ahead of the walk are met, also when the set moves. */
static void test_setting_while_walking(void **state)
{
    (void)state;
    struct rh_bitset set = RH_BITSET_INIT;
    rh_bitset_set(&set, 1);
    size_t bit, seen = 0;
    for (size_t at = 0; rh_bitset_next(&set, &at, &bit); seen++) {
        assert_int_equal(bit, (size_t)1 << seen);
        if (bit < 4096)
            rh_bitset_set(&set, bit * 2);
    }
    assert_int_equal(seen, 13);
    assert_int_equal(rh_bitset_count(&set), 13);
    rh_bitset_release(&set);
}

static void test_against_bytes(void **state)
{
    (void)state;
    enum { BITS = 1500 };
    static bool model[BITS];
    struct rh_bitset set = RH_BITSET_INIT;
    uint32_t seed = 12345;
    for (int step = 0; step < BITS; step++) {
        seed = seed * 1664525 + 1013904223;
        size_t bit = (seed >> 8) % BITS;
        assert_int_equal(rh_bitset_set(&set, bit), !model[bit]);
        model[bit] = true;
    }
    size_t at = 0, bit, count = 0;
    for (size_t i = 0; i < BITS; i++) {
        assert_int_equal(rh_bitset_test(&set, i), model[i]);
        if (!model[i])
            continue;
        assert_true(rh_bitset_next(&set, &at, &bit));
        assert_int_equal(bit, i);
        count++;
    }
    assert_false(rh_bitset_next(&set, &at, &bit));
    assert_int_equal(rh_bitset_count(&set), count);
    rh_bitset_release(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_set),
        cmocka_unit_test(test_set_at_word_borders),
        cmocka_unit_test(test_setting_while_walking),
        cmocka_unit_test(test_against_bytes),
    };
    return cmocka_run_group_tests_name("bitset", tests, NULL, NULL);
}
