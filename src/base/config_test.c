/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what users say of their programs. */
#include "base/config.h"
#include "base/testing.h"

#include <stdio.h>
#include <string.h>

static bool matches(const char *pattern, const char *name)
{
    struct rh_config config;
    char text[128];
    snprintf(text, sizeof text, "race:%s", pattern);
    assert_int_equal(RH_OK, rh_config_parse(&config, text, "x"));
    bool does = rh_config_matches(&config, RH_CONFIG_RACE, name);
    assert_false(rh_config_matches(&config, RH_CONFIG_ENTRY, name));
    rh_config_release(&config);
    return does;
}

static void patterns_match_as_in_thread_sanitizer(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *name;
        bool matches;
    } cases[] = {
        {"foo", "foo", true},          {"foo", "a_foo_b", true},
        {"foo", "fo", false},          {"^foo", "foo_b", true},
        {"^foo", "a_foo", false},      {"foo$", "a_foo", true},
        {"foo$", "foo_b", false},      {"^foo$", "foo", true},
        {"^foo$", "foo2", false},      {"a*c", "xabbbcx", true},
        {"a*c", "xacx", true},         {"a*c", "xcax", false},
        {"^a*c$", "abcbc", true},      {"^a*c$", "abcb", false},
        {"a*b*c", "a1b2c", true},      {"*", "x", true},
        {"*.c$", "src/q.c", true},     {"*.c$", "src/q.cc", false},
        {"^src/*/q", "src/a/q", true}, {"^src/*/q", "s/a/q", false},
        {"aab", "aaab", true},         {"^a*ab$", "aaaab", true},
        {"x*$", "ax", true},           {"a$b", "a$b", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (matches(cases[i].pattern, cases[i].name) != cases[i].matches)
            fail_msg("%s on %s", cases[i].pattern, cases[i].name);
    assert_false(matches("*", NULL));
    assert_false(matches("*", ""));
}

static void files_of_thread_sanitizer_are_read(void **state)
{
    (void)state;
    struct rh_config config;
    assert_int_equal(RH_OK, rh_config_parse(&config,
                                            "# known\n\n  race:log_*  \r\nmutex:foo\nentry:^on_\n"
                                            "race_top:stats\ncalled_from_lib:libz.so",
                                            "x"));
    assert_int_equal(config.rules.len, 3);
    assert_true(rh_config_matches(&config, RH_CONFIG_RACE, "log_line"));
    assert_true(rh_config_matches(&config, RH_CONFIG_RACE_TOP, "stats"));
    assert_false(rh_config_matches(&config, RH_CONFIG_RACE, "stats"));
    assert_false(rh_config_matches(&config, RH_CONFIG_RACE, "foo"));
    assert_int_equal(config.rules.data[1].line, 5);
    assert_true(rh_config_matches(&config, RH_CONFIG_ENTRY, "on_timer"));
    assert_true(rh_config_has(&config, RH_CONFIG_ENTRY));
    rh_config_release(&config);
    assert_int_equal(RH_OK, rh_config_parse(&config, "", "x"));
    assert_false(rh_config_has(&config, RH_CONFIG_RACE));
    rh_config_release(&config);
}

static void other_lines_are_refused_with_their_number(void **state)
{
    (void)state;
    struct rh_config config;
    assert_int_equal(RH_ERR_USAGE, rh_config_parse(&config, "race:a\nlog_line\n", "my.conf"));
    assert_non_null(strstr(rh_error_text(), "my.conf:2: "));
    assert_int_equal(RH_ERR_USAGE, rh_config_parse(&config, "\n\nrace:\n", "my.conf"));
    assert_non_null(strstr(rh_error_text(), "my.conf:3: "));
    assert_int_equal(RH_ERR_USAGE, rh_config_parse(&config, "rase:foo", "my.conf"));
    assert_non_null(strstr(rh_error_text(), "'rase'"));
}

static void rules_may_expire(void **state)
{
    (void)state;
    struct rh_config config;
    assert_int_equal(RH_OK, rh_config_parse(&config,
                                            "race:old  # until=2001-02-03 why=gone\n"
                                            "race:new\t# until=2999-12-31\n"
                                            "race:a#b # why=a name with a sign\n",
                                            "x"));
    assert_false(rh_config_matches(&config, RH_CONFIG_RACE, "old"));
    assert_true(rh_config_matches(&config, RH_CONFIG_RACE, "new"));
    assert_true(rh_config_matches(&config, RH_CONFIG_RACE, "a#b"));
    assert_int_equal(config.expired, 1);
    assert_int_equal(config.first_expired, 1);
    rh_config_release(&config);
    assert_int_equal(RH_ERR_USAGE, rh_config_parse(&config, "race:a # until=soon\n", "x"));
    assert_non_null(strstr(rh_error_text(), "x:1: "));
    assert_int_equal(RH_ERR_USAGE, rh_config_parse(&config, "race:a # until=2027-01-3x\n", "x"));
    assert_int_equal(RH_ERR_USAGE, rh_config_parse(&config, "race: # why=no pattern\n", "x"));
}

static void synchronisation_has_a_name_and_an_argument(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
        enum rh_config_kind kind;
        unsigned argument;
    } cases[] = {
        {"acquire:get:0", "get", RH_CONFIG_ACQUIRE, 0},
        {"release:put:1", "put", RH_CONFIG_RELEASE, 1},
        {"lock:a::grab:2 # why=C++", "a::grab", RH_CONFIG_LOCK, 2},
        {"unlock:drop:9", "drop", RH_CONFIG_UNLOCK, 9},
        {"thread:spawn:2", "spawn", RH_CONFIG_THREAD, 2},
    };
    struct rh_config config;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(RH_OK, rh_config_parse(&config, cases[i].text, "x"));
        assert_int_equal(config.rules.len, 1);
        assert_int_equal(config.rules.data[0].kind, cases[i].kind);
        assert_int_equal(config.rules.data[0].argument, cases[i].argument);
        assert_string_equal(config.rules.data[0].pattern, cases[i].name);
        rh_config_release(&config);
    }
    /* ThreadSanitizer's rule about threads that leak. */
    assert_int_equal(RH_OK, rh_config_parse(&config, "thread:leaky_pool", "x"));
    assert_int_equal(config.rules.len, 0);
    rh_config_release(&config);
}

static void synchronisation_without_an_argument_is_refused(void **state)
{
    (void)state;
    static const char *const rules[] = {"acquire:get",    "lock:grab:", "lock:grab:x",
                                        "lock:grab:10",   "unlock::1",  "release:put:-1",
                                        "thread:spawn:1x"};
    struct rh_config config;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        assert_int_equal(RH_ERR_USAGE, rh_config_parse(&config, rules[i], "my.conf"));
        assert_non_null(strstr(rh_error_text(), "my.conf:1: expected "));
        assert_non_null(strstr(rh_error_text(), ":NAME:ARG"));
    }
}

static void reasons_and_dates_are_kept(void **state)
{
    (void)state;
    struct rh_config config;
    assert_int_equal(
        RH_OK, rh_config_parse(&config, "race:a # until=2999-01-31 why=the next release\n", "x"));
    assert_string_equal(config.rules.data[0].why, "the next release");
    assert_string_equal(config.rules.data[0].until, "2999-01-31");
    rh_config_release(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_as_in_thread_sanitizer),
        cmocka_unit_test(files_of_thread_sanitizer_are_read),
        cmocka_unit_test(other_lines_are_refused_with_their_number),
        cmocka_unit_test(rules_may_expire),
        cmocka_unit_test(synchronisation_has_a_name_and_an_argument),
        cmocka_unit_test(synchronisation_without_an_argument_is_refused),
        cmocka_unit_test(reasons_and_dates_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
