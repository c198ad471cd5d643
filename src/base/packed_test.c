/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of packed sequences of numbers. */
#include "base/packed.h"

#include "base/hash.h"
#include "base/testing.h"
#include "base/vec.h"

static uint64_t draw(uint64_t round, uint64_t index)
{
    struct rh_hash hash;
    rh_hash_init(&hash);
    rh_hash_add_u64(&hash, round);
    rh_hash_add_u64(&hash, index);
    return rh_hash_finish(&hash);
}

static void what_was_packed_comes_back(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 2000; round++) {
        RH_VEC(uint32_t) numbers = {0};
        struct rh_strbuf bytes = RH_STRBUF_INIT;
        uint64_t count = 1 + draw(round, 0) % 60, number = draw(round, 1) % 300;
        uint64_t gap = (uint64_t)1 << draw(round, 2) % 26;
        for (uint64_t i = 0; i < count && number <= UINT32_MAX; i++) {
            rh_vec_push(&numbers, (uint32_t)number);
            number += 1 + (draw(round, 3 + i) % 2 ? 0 : draw(round, 100 + i) % gap);
        }
        uint32_t first = numbers.data[0], last = numbers.data[numbers.len - 1];
        rh_packed_add(&bytes, numbers.data, numbers.len);
        assert_true(rh_packed_is_sound(bytes.data, bytes.len, first, last + 1));
        assert_false(rh_packed_is_sound(bytes.data, bytes.len, first + 1, last + 1));
        assert_false(rh_packed_is_sound(bytes.data, bytes.len, first, last));
        struct rh_packed_walk walk = rh_packed_walk(bytes.data, bytes.len);
        uint32_t got;
        for (size_t i = 0; i < numbers.len; i++) {
            uint32_t wanted = numbers.data[i];
            assert_true(rh_packed_next(&walk, &got));
            assert_int_equal(got, wanted);
            assert_true(rh_packed_has(bytes.data, bytes.len, wanted));
            bool next = i + 1 < numbers.len && numbers.data[i + 1] == wanted + 1;
            assert_int_equal(rh_packed_has(bytes.data, bytes.len, wanted + 1), next);
        }
        assert_false(rh_packed_next(&walk, &got));
        rh_strbuf_release(&bytes);
        rh_vec_free(&numbers);
    }
}

static void a_run_takes_few_bytes(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    static uint32_t numbers[COUNT];
    struct rh_strbuf bytes = RH_STRBUF_INIT;
    for (uint32_t i = 0; i < COUNT; i++)
        numbers[i] = 5 + i;
    rh_packed_add(&bytes, numbers, COUNT);
    assert_int_equal(bytes.len, 4);
    rh_strbuf_release(&bytes);
}

static void what_is_no_sequence_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
    } broken[] = {
        {"", 0},                                /* nothing */
        {"\x05", 1},                            /* half a run */
        {"\x05\x80", 2},                        /* half a number */
        {"\x05\x01\x00\x01", 4},                /* two runs that touch */
        {"\xff\xff\xff\xff\x7f\x00", 6},        /* more than 32 bits */
        {"\x80\x80\x80\x80\x80\x00\x00", 7},    /* a number that does not end */
        {"\x05\xff\xff\xff\xff\x0f", 6},        /* a run beyond all numbers */
        {"\xff\xff\xff\xff\x0f\x00\x01\x00", 8} /* and one after the last */
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        assert_false(rh_packed_is_sound(broken[i].bytes, broken[i].len, 0, UINT32_MAX));
    assert_true(rh_packed_is_sound("\x05\x00", 2, 0, UINT32_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_packed_comes_back),
        cmocka_unit_test(a_run_takes_few_bytes),
        cmocka_unit_test(what_is_no_sequence_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
