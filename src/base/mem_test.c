/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of allocation that cannot fail. */
#include "base/log.h"
#include "base/mem.h"
#include "base/testing.h"

#include <string.h>

static void test_zero_sizes_give_memory(void **state)
{
    (void)state;
    void *blocks[] = {rh_alloc(0), rh_alloc_array(0, 8), rh_calloc(0, 8),
                      rh_realloc(rh_alloc(9), 0), rh_realloc_array(NULL, 8, 0)};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        assert_non_null(blocks[i]);
        free(blocks[i]);
    }
}

static void test_calloc_zeroes_and_realloc_keeps(void **state)
{
    (void)state;
    unsigned char *bytes = rh_calloc(100, 3);
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(bytes[i], 0);
    memset(bytes, 7, 300);
    bytes = rh_realloc_array(bytes, 1000, 3);
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(bytes[i], 7);
    bytes = rh_realloc(bytes, 10);
    assert_int_equal(bytes[9], 7);
    free(bytes);
}

static void test_string_copies(void **state)
{
    (void)state;
    char *whole = rh_strdup("hive"), *part = rh_strndup("hive", 2), *more = rh_strndup("hive", 99),
         *none = rh_strndup("hive", 0);
    assert_string_equal(whole, "hive");
    assert_string_equal(part, "hi");
    assert_string_equal(more, "hive");
    assert_string_equal(none, "");
    free(whole);
    free(part);
    free(more);
    free(none);

    const char unterminated[3] = {'a', 'b', 'c'};
    char *bounded = rh_strndup(unterminated, 3);
    assert_string_equal(bounded, "abc");
    free(bounded);
}

static void overflow_alloc(void)
{
    free(rh_alloc_array(SIZE_MAX / 2, 3));
}

static void overflow_calloc(void)
{
    free(rh_calloc(SIZE_MAX, 2));
}

static void overflow_realloc(void)
{
    free(rh_realloc_array(NULL, 2, SIZE_MAX));
}

static void exhaust_memory(void)
{
    rh_log_set_program("racehive-cc");
    free(rh_alloc(PTRDIFF_MAX));
}

static void assert_ends_out_of_memory(void (*body)(void), const char *start)
{
    struct rh_strbuf said = RH_STRBUF_INIT;
    int status = sacrifice(body, &said);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_memory_equal(rh_strbuf_text(&said), start, strlen(start));
    assert_ptr_equal(strchr(said.data, '\n'), said.data + said.len - 1);
    rh_strbuf_release(&said);
}

static void test_overflow_ends_the_tool_in_one_line(void **state)
{
    (void)state;
    assert_ends_out_of_memory(overflow_alloc, "racehive: error: out of memory");
    assert_ends_out_of_memory(overflow_calloc, "racehive: error: out of memory");
    assert_ends_out_of_memory(overflow_realloc, "racehive: error: out of memory");
}

static void test_refusal_ends_the_tool_in_one_line(void **state)
{
    (void)state;
    if (RH_TESTING_ASAN)
        skip_for("AddressSanitizer ends the process before malloc can refuse");
    assert_ends_out_of_memory(exhaust_memory, "racehive-cc: error: out of memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zero_sizes_give_memory),
        cmocka_unit_test(test_calloc_zeroes_and_realloc_keeps),
        cmocka_unit_test(test_string_copies),
        cmocka_unit_test(test_overflow_ends_the_tool_in_one_line),
        cmocka_unit_test(test_refusal_ends_the_tool_in_one_line),
    };
    return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
