/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the JSON writer. */
#include "base/json.h"
#include "base/testing.h"

#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void write_report(struct rh_json *json)
{
    rh_json_begin_object(json);
    rh_json_key(json, "tool");
    rh_json_string(json, "race\"hive");
    rh_json_key(json, "numbers");
    rh_json_begin_array(json);
    rh_json_uint(json, UINT64_MAX);
    rh_json_double(json, 0.1);
    rh_json_end_array(json);
    rh_json_key(json, "empty");
    rh_json_begin_object(json);
    rh_json_end_object(json);
    rh_json_key(json, "none");
    rh_json_begin_array(json);
    rh_json_end_array(json);
    rh_json_key(json, "nested");
    rh_json_begin_array(json);
    rh_json_begin_object(json);
    rh_json_key(json, "yes");
    rh_json_bool(json, true);
    rh_json_key(json, "no");
    rh_json_bool(json, false);
    rh_json_end_object(json);
    rh_json_null(json);
    rh_json_string(json, NULL);
    rh_json_end_array(json);
    rh_json_end_object(json);
}

static const char report[] = "{\n"
                             "  \"tool\": \"race\\\"hive\",\n"
                             "  \"numbers\": [\n"
                             "    18446744073709551615,\n"
                             "    0.1\n"
                             "  ],\n"
                             "  \"empty\": {},\n"
                             "  \"none\": [],\n"
                             "  \"nested\": [\n"
                             "    {\n"
                             "      \"yes\": true,\n"
                             "      \"no\": false\n"
                             "    },\n"
                             "    null,\n"
                             "    null\n"
                             "  ]\n"
                             "}\n";

/* A document in memory. */
struct paper {
    struct rh_json json;
    FILE *stream;
    char *text;
    size_t len;
};

static struct rh_json *open_paper(struct paper *p)
{
    p->stream = open_memstream(&p->text, &p->len);
    assert_non_null(p->stream);
    rh_json_init_file(&p->json, p->stream);
    return &p->json;
}

/* What was written; the caller frees it. */
static char *finish_paper(struct paper *p)
{
    assert_int_equal(rh_json_finish(&p->json), RH_OK);
    fclose(p->stream);
    return p->text;
}

static void test_report_into_file(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    struct rh_json json;
    rh_json_init_file(&json, file);
    write_report(&json);
    assert_int_equal(rh_json_finish(&json), RH_OK);
    char text[sizeof report + 10] = {0};
    rewind(file);
    assert_int_equal(fread(text, 1, sizeof text, file), sizeof report - 1);
    assert_string_equal(text, report);
    fclose(file);
}

static void test_single_values_are_documents(void **state)
{
    (void)state;
    struct paper paper;
    rh_json_string(open_paper(&paper), "alone");
    char *text = finish_paper(&paper);
    assert_string_equal(text, "\"alone\"\n");
    free(text);
}

static char *format_double(double number)
{
    struct paper paper;
    rh_json_double(open_paper(&paper), number);
    return finish_paper(&paper);
}

static void test_doubles_read_back(void **state)
{
    (void)state;
    const double numbers[] = {0.0,     1.0,     -2.5,         1.0 / 3, 0.1 + 0.2,
                              DBL_MAX, DBL_MIN, DBL_TRUE_MIN, 1e21,    123456789.123456789};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char *text = format_double(numbers[i]);
        assert_true(strtod(text, NULL) == numbers[i]);
        free(text);
    }
    const double odd[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (size_t i = 0; i < 3; i++) {
        char *text = format_double(odd[i]);
        assert_string_equal(text, "null\n");
        free(text);
    }
    char *short_text = format_double(0.05);
    assert_string_equal(short_text, "0.05\n");
    free(short_text);
}

static void test_full_disk_is_reported(void **state)
{
    (void)state;
    FILE *file = fopen("/dev/full", "w");
    if (!file)
        skip_for("a system without /dev/full");
    struct rh_json json;
    rh_json_init_file(&json, file);
    write_report(&json);
    assert_int_equal(rh_json_finish(&json), RH_ERR_IO);
    assert_non_null(strstr(rh_error_text(), "cannot write JSON"));
    fclose(file);

    /* The failure may also lie far behind, in a write that stdio made on its own. */
    file = fopen("/dev/full", "w");
    setvbuf(file, NULL, _IOLBF, 64);
    rh_json_init_file(&json, file);
    write_report(&json);
    assert_int_equal(rh_json_finish(&json), RH_ERR_IO);
    fclose(file);
}

static struct rh_json misused;

static void value_without_key(void)
{
    rh_json_begin_object(&misused);
    rh_json_null(&misused);
}

static void key_in_array(void)
{
    rh_json_begin_array(&misused);
    rh_json_key(&misused, "k");
}

static void key_after_key(void)
{
    rh_json_begin_object(&misused);
    rh_json_key(&misused, "k");
    rh_json_key(&misused, "l");
}

static void end_after_key(void)
{
    rh_json_begin_object(&misused);
    rh_json_key(&misused, "k");
    rh_json_end_object(&misused);
}

static void wrong_end(void)
{
    rh_json_begin_object(&misused);
    rh_json_end_array(&misused);
}

static void end_without_begin(void)
{
    rh_json_end_array(&misused);
}

static void two_documents(void)
{
    rh_json_null(&misused);
    rh_json_null(&misused);
}

static void finish_early(void)
{
    rh_json_begin_array(&misused);
    rh_json_finish(&misused);
}

static void finish_nothing(void)
{
    rh_json_finish(&misused);
}

static void nest_too_deeply(void)
{
    for (int i = 0; i <= RH_JSON_MAX_DEPTH; i++)
        rh_json_begin_array(&misused);
}

static void test_misuse_aborts(void **state)
{
    (void)state;
    void (*const bodies[])(void) = {
        value_without_key, key_in_array,  key_after_key, end_after_key,  wrong_end,
        end_without_begin, two_documents, finish_early,  finish_nothing, nest_too_deeply};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct rh_strbuf said = RH_STRBUF_INIT;
        rh_json_init_file(&misused, stdout);
        int status = sacrifice(bodies[i], &said);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGABRT);
        assert_non_null(strstr(rh_strbuf_text(&said), "JSON writer misused"));
        rh_strbuf_release(&said);
    }
}

static void test_deepest_nesting(void **state)
{
    (void)state;
    struct paper paper;
    struct rh_json *json = open_paper(&paper);
    for (int i = 0; i < RH_JSON_MAX_DEPTH; i++)
        rh_json_begin_array(json);
    for (int i = 0; i < RH_JSON_MAX_DEPTH; i++)
        rh_json_end_array(json);
    free(finish_paper(&paper));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_report_into_file),
        cmocka_unit_test(test_single_values_are_documents),
        cmocka_unit_test(test_doubles_read_back),
        cmocka_unit_test(test_full_disk_is_reported),
        cmocka_unit_test(test_misuse_aborts),
        cmocka_unit_test(test_deepest_nesting),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
