/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the bump arena. */
#include "base/arena.h"
#include "base/testing.h"

#include <stdalign.h>
#include <string.h>

static void assert_aligned(const void *address)
{
    assert_int_equal((uintptr_t)address % alignof(max_align_t), 0);
}

/* Sizes around the alignment, the chunk and the limit for chunks of one's own. */
static void test_items_are_aligned_zeroed_and_apart(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 15, 16, 17, 100, 4095, 4096, 4097, 16384, 100000};
    const size_t kinds = sizeof sizes / sizeof sizes[0], rounds = 50;
    struct rh_arena arena = RH_ARENA_INIT;
    unsigned char **items = calloc(kinds * rounds, sizeof *items);
    assert_non_null(items);
    for (size_t i = 0; i < kinds * rounds; i++) {
        size_t size = sizes[i % kinds];
        items[i] = rh_arena_alloc(&arena, size);
        assert_aligned(items[i]);
        for (size_t b = 0; b < size; b++)
            assert_int_equal(items[i][b], 0);
        memset(items[i], (int)(i & 0xff), size);
    }
    for (size_t i = 0; i < kinds * rounds; i++)
        for (size_t b = 0; b < sizes[i % kinds]; b++)
            assert_int_equal(items[i][b], i & 0xff);
    free(items);
    rh_arena_release(&arena);
}

static void test_empty_items_have_addresses_of_their_own(void **state)
{
    (void)state;
    struct rh_arena arena = RH_ARENA_INIT;
    void *first = rh_arena_alloc(&arena, 0), *second = rh_arena_alloc(&arena, 0);
    assert_non_null(first);
    assert_ptr_not_equal(first, second);
    rh_arena_release(&arena);
}

static void test_strings(void **state)
{
    (void)state;
    struct rh_arena arena = RH_ARENA_INIT;
    assert_string_equal(rh_arena_strdup(&arena, "site"), "site");
    assert_string_equal(rh_arena_strdup(&arena, ""), "");
    assert_string_equal(rh_arena_strndup(&arena, "candidate", 3), "can");
    assert_string_equal(rh_arena_printf(&arena, "%s:%d", "bank.c", 41), "bank.c:41");
    assert_string_equal(rh_arena_printf(&arena, "%s", ""), "");
    char *wide = rh_arena_printf(&arena, "%20000d", 5);
    assert_int_equal(strlen(wide), 20000);
    assert_int_equal(wide[19999], '5');
    rh_arena_release(&arena);
}

static void test_typed_forms(void **state)
{
    (void)state;
    struct pair {
        int a;
        double b;
    };
    struct rh_arena arena = RH_ARENA_INIT;
    struct pair *one = rh_arena_new(&arena, struct pair);
    struct pair *many = rh_arena_array(&arena, struct pair, 100);
    assert_int_equal(one->a, 0);
    many[99].a = 3;
    assert_true(many[99].b == 0);
    rh_arena_release(&arena);
}

static void overflow_array(void)
{
    struct rh_arena arena = RH_ARENA_INIT;
    rh_arena_alloc_array(&arena, SIZE_MAX / 4, 8);
}

static void overflow_rounding(void)
{
    struct rh_arena arena = RH_ARENA_INIT;
    rh_arena_alloc(&arena, SIZE_MAX - 3);
}

static void test_overflow_is_out_of_memory(void **state)
{
    (void)state;
    void (*const bodies[])(void) = {overflow_array, overflow_rounding};
    for (size_t i = 0; i < 2; i++) {
        struct rh_strbuf said = RH_STRBUF_INIT;
        int status = sacrifice(bodies[i], &said);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        assert_non_null(strstr(rh_strbuf_text(&said), "out of memory"));
        rh_strbuf_release(&said);
    }
}

static void test_release_allows_reuse(void **state)
{
    (void)state;
    struct rh_arena arena;
    rh_arena_init(&arena);
    rh_arena_release(&arena);
    for (int i = 0; i < 3; i++) {
        unsigned char *bytes = rh_arena_alloc(&arena, 1000);
        assert_int_equal(bytes[999], 0);
        memset(bytes, 1, 1000);
        rh_arena_release(&arena);
        assert_null(arena.chunks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_are_aligned_zeroed_and_apart),
        cmocka_unit_test(test_empty_items_have_addresses_of_their_own),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_typed_forms),
        cmocka_unit_test(test_overflow_is_out_of_memory),
        cmocka_unit_test(test_release_allows_reuse),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
