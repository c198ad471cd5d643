/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the stable hash: its values are pinned, for they are on file everywhere. */
#include "base/hash.h"
#include "base/testing.h"

#include <stdlib.h>
#include <string.h>

struct vector {
    size_t len;
    uint64_t expected;
};

/* Of the bytes 00 01 02 ...: the reference vectors of SipHash-2-4 under the reference key. */
static const struct vector vectors[] = {
    {0, UINT64_C(0x726fdb47dd0e0e31)},  {1, UINT64_C(0x74f839c593dc67fd)},
    {2, UINT64_C(0x0d6c8009d9a94f5a)},  {3, UINT64_C(0x85676696d7fb7e2d)},
    {7, UINT64_C(0xab0200f58b01d137)},  {8, UINT64_C(0x93f5f5799a932462)},
    {9, UINT64_C(0x9e0082df0ba9e4b0)},  {15, UINT64_C(0xa129ca6149be45e5)},
    {16, UINT64_C(0x3f2acc7f57c29bdb)}, {63, UINT64_C(0x958a324ceb064572)},
};

static void fill_counting(unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        bytes[i] = (unsigned char)i;
}

static void test_reference_vectors(void **state)
{
    (void)state;
    unsigned char bytes[64];
    fill_counting(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        assert_true(rh_hash_bytes(bytes, vectors[i].len) == vectors[i].expected);
}

static void test_pieces_do_not_matter(void **state)
{
    (void)state;
    unsigned char bytes[100];
    fill_counting(bytes, sizeof bytes);
    uint64_t whole = rh_hash_bytes(bytes, sizeof bytes);
    for (size_t first = 0; first <= sizeof bytes; first++) {
        struct rh_hash hash;
        rh_hash_init(&hash);
        rh_hash_add(&hash, bytes, first);
        rh_hash_add(&hash, bytes + first, sizeof bytes - first);
        assert_true(rh_hash_finish(&hash) == whole);
        assert_true(rh_hash_finish(&hash) == whole);
    }
}

static void test_finish_allows_more(void **state)
{
    (void)state;
    struct rh_hash hash;
    rh_hash_init(&hash);
    rh_hash_add(&hash, "abc", 3);
    assert_true(rh_hash_finish(&hash) == rh_hash_bytes("abc", 3));
    rh_hash_add(&hash, "defghij", 7);
    assert_true(rh_hash_finish(&hash) == rh_hash_bytes("abcdefghij", 10));
}

/* Numbers and strings are defined as bytes, the same on every machine. */
static void test_composed_values(void **state)
{
    (void)state;
    struct rh_hash hash;
    rh_hash_init(&hash);
    rh_hash_add_u64(&hash, UINT64_C(0x0706050403020100));
    assert_true(rh_hash_finish(&hash) == UINT64_C(0x93f5f5799a932462));

    rh_hash_init(&hash);
    rh_hash_add_string(&hash, "bank.c");
    assert_true(rh_hash_finish(&hash) == rh_hash_bytes("\6\0\0\0\0\0\0\0bank.c", 14));
}

static uint64_t hash_two(const char *first, const char *second)
{
    struct rh_hash hash;
    rh_hash_init(&hash);
    rh_hash_add_string(&hash, first);
    rh_hash_add_string(&hash, second);
    return rh_hash_finish(&hash);
}

static void test_strings_keep_their_borders(void **state)
{
    (void)state;
    assert_true(hash_two("ab", "c") != hash_two("a", "bc"));
    assert_true(hash_two("", "abc") != hash_two("abc", ""));
    assert_true(hash_two("a", "b") != hash_two("b", "a"));
}

static void test_hexadecimal(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 1, UINT64_MAX, UINT64_C(0x0123456789abcdef)};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[RH_HASH_HEX_SIZE];
        rh_hash_format(values[i], text);
        assert_int_equal(strlen(text), 16);
        assert_true(strtoull(text, NULL, 16) == values[i]);
    }
    char text[RH_HASH_HEX_SIZE];
    rh_hash_format(UINT64_C(0xABCDEF), text);
    assert_string_equal(text, "0000000000abcdef");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_vectors),
        cmocka_unit_test(test_pieces_do_not_matter),
        cmocka_unit_test(test_finish_allows_more),
        cmocka_unit_test(test_composed_values),
        cmocka_unit_test(test_strings_keep_their_borders),
        cmocka_unit_test(test_hexadecimal),
    };
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
