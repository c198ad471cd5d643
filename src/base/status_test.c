/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of status codes and failure messages. */
#include "base/status.h"
#include "base/testing.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

static void test_exit_statuses(void **state)
{
    (void)state;
    assert_int_equal(RH_OK, 0);
    assert_int_equal(rh_exit_status(RH_OK), 0);
    assert_int_equal(rh_exit_status(RH_ERR_USAGE), 2);
    for (enum rh_status s = RH_ERR_INPUT; s <= RH_ERR_INTERNAL; s++)
        assert_int_equal(rh_exit_status(s), 1);
}

static void test_fail_records_and_returns(void **state)
{
    (void)state;
    assert_int_equal(rh_fail(RH_ERR_INPUT, "bad %s %d", "thing", 7), RH_ERR_INPUT);
    assert_string_equal(rh_error_text(), "bad thing 7");
    errno = ENOENT;
    assert_int_equal(rh_fail_errno(RH_ERR_IO, "cannot open %s", "x"), RH_ERR_IO);
    assert_string_equal(rh_error_text(), "cannot open x: No such file or directory");
}

static void test_prefix_adds_context(void **state)
{
    (void)state;
    rh_fail(RH_ERR_IO, "disk full");
    assert_int_equal(rh_fail_prefix(RH_ERR_IO, "writing %s", "a.o"), RH_ERR_IO);
    assert_string_equal(rh_error_text(), "writing a.o: disk full");
    assert_int_equal(rh_fail_prefix(RH_OK, "never seen"), RH_OK);
    assert_string_equal(rh_error_text(), "writing a.o: disk full");
}

static void test_message_may_quote_itself(void **state)
{
    (void)state;
    rh_fail(RH_ERR_IO, "inner");
    rh_fail(RH_ERR_IO, "<%s>", rh_error_text());
    assert_string_equal(rh_error_text(), "<inner>");
}

static void test_long_messages_end_in_dots(void **state)
{
    (void)state;
    char text[10000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    rh_fail(RH_ERR_INPUT, "%s", text);
    size_t len = strlen(rh_error_text());
    assert_in_range(len, 1000, 9000);
    assert_string_equal(rh_error_text() + len - 4, "a...");
    rh_fail_prefix(RH_ERR_INPUT, "%s", text);
    assert_int_equal(strlen(rh_error_text()), len);

    /* A message that fits exactly is not cut; with a reason behind it, it is. */
    rh_fail(RH_ERR_INPUT, "%.*s", (int)len, text);
    assert_string_equal(rh_error_text() + len - 4, "aaaa");
    rh_fail_prefix(RH_ERR_INPUT, "p");
    assert_int_equal(strlen(rh_error_text()), len);
    assert_string_equal(rh_error_text() + len - 4, "a...");
    assert_memory_equal(rh_error_text(), "p: aa", 5);
}

static void *fail_elsewhere(void *unused)
{
    (void)unused;
    static char seen[64];
    strncpy(seen, rh_error_text(), sizeof seen - 1);
    rh_fail(RH_ERR_IO, "from the other thread");
    return seen;
}

static void test_messages_belong_to_threads(void **state)
{
    (void)state;
    rh_fail(RH_ERR_IO, "from this thread");
    pthread_t thread;
    void *seen;
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    assert_int_equal(pthread_join(thread, &seen), 0);
    assert_string_equal((const char *)seen, "");
    assert_string_equal(rh_error_text(), "from this thread");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_statuses),
        cmocka_unit_test(test_fail_records_and_returns),
        cmocka_unit_test(test_prefix_adds_context),
        cmocka_unit_test(test_message_may_quote_itself),
        cmocka_unit_test(test_long_messages_end_in_dots),
        cmocka_unit_test(test_messages_belong_to_threads),
    };
    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
