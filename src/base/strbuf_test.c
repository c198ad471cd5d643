/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of growable strings and their quoting. */
#include "base/strbuf.h"
#include "base/testing.h"

#include <stdbool.h>

#include <string.h>

static void test_empty_is_a_string(void **state)
{
    (void)state;
    struct rh_strbuf sb = RH_STRBUF_INIT;
    assert_string_equal(rh_strbuf_text(&sb), "");
    rh_strbuf_reset(&sb);
    rh_strbuf_reserve(&sb, 0);
    assert_string_equal(sb.data, "");
    rh_strbuf_release(&sb);
    rh_strbuf_add(&sb, "");
    assert_string_equal(sb.data, "");
    rh_strbuf_release(&sb);
    char *text = rh_strbuf_detach(&sb);
    assert_string_equal(text, "");
    free(text);
}

static void test_adding_grows(void **state)
{
    (void)state;
    struct rh_strbuf sb = RH_STRBUF_INIT;
    for (int i = 0; i < 5000; i++) {
        rh_strbuf_addc(&sb, (char)('a' + i % 26));
        assert_int_equal(sb.len, i + 1);
        assert_int_equal(sb.data[sb.len], 0);
        assert_true(sb.cap > sb.len);
    }
    for (int i = 0; i < 5000; i++)
        assert_int_equal(sb.data[i], 'a' + i % 26);
    rh_strbuf_truncate(&sb, 3);
    assert_string_equal(sb.data, "abc");
    rh_strbuf_add(&sb, "-def");
    assert_string_equal(sb.data, "abc-def");
    rh_strbuf_reset(&sb);
    assert_string_equal(sb.data, "");
    rh_strbuf_addn(&sb, "a\0b", 3);
    assert_int_equal(sb.len, 3);
    assert_memory_equal(sb.data, "a\0b", 4);
    rh_strbuf_addn(&sb, NULL, 0);
    assert_int_equal(sb.len, 3);
    rh_strbuf_release(&sb);
}

static void test_formatting_at_every_length(void **state)
{
    (void)state;
    struct rh_strbuf sb = RH_STRBUF_INIT;
    for (int width = 1; width < 300; width++) {
        rh_strbuf_release(&sb);
        rh_strbuf_addf(&sb, "%*d|", width, 7);
        assert_int_equal(sb.len, width + 1);
        assert_int_equal(sb.data[width - 1], '7');
        assert_int_equal(sb.data[width], '|');
        assert_int_equal(sb.data[width + 1], 0);
    }
    rh_strbuf_reset(&sb);
    rh_strbuf_addf(&sb, "%s", "");
    assert_string_equal(sb.data, "");
    rh_strbuf_release(&sb);
    char *text = rh_format("%s/%d", "a", 5);
    assert_string_equal(text, "a/5");
    free(text);
}

static void test_detach_hands_over(void **state)
{
    (void)state;
    struct rh_strbuf sb = RH_STRBUF_INIT;
    rh_strbuf_add(&sb, "mine");
    char *text = rh_strbuf_detach(&sb);
    assert_int_equal(sb.len, 0);
    assert_null(sb.data);
    rh_strbuf_add(&sb, "other");
    assert_string_equal(text, "mine");
    free(text);
    rh_strbuf_release(&sb);
}

struct json_case {
    const char *bytes;
    size_t len;
    const char *expected;
};

#define BROKEN "\xEF\xBF\xBD"
#define CASE(bytes, out)                                                                           \
    {                                                                                              \
        bytes, sizeof bytes - 1, "\"" out "\""                                                     \
    }

static const struct json_case json_cases[] = {
    CASE("", ""),
    CASE("plain text", "plain text"),
    CASE("\"\\/", "\\\"\\\\/"),
    CASE("\b\f\n\r\t", "\\b\\f\\n\\r\\t"),
    CASE("\x01\x1f\x7f", "\\u0001\\u001f\\u007f"),
    CASE("a\0b", "a\\u0000b"),
    CASE("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x90\x9D", "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x90\x9D"),
    CASE("\xED\x9F\xBF\xEE\x80\x80", "\xED\x9F\xBF\xEE\x80\x80"),
    CASE("\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF"),
    CASE("\x80", BROKEN),
    CASE("\xBF\xBF", BROKEN BROKEN),
    CASE("\xFF\xFE", BROKEN BROKEN),
    CASE("\xC0\x80", BROKEN BROKEN),                       /* overlong NUL */
    CASE("\xC1\xBF", BROKEN BROKEN),                       /* overlong */
    CASE("\xE0\x80\x80", BROKEN BROKEN BROKEN),            /* overlong */
    CASE("\xF0\x8F\xBF\xBF", BROKEN BROKEN BROKEN BROKEN), /* overlong */
    CASE("\xED\xA0\x80", BROKEN BROKEN BROKEN),            /* surrogate */
    CASE("\xF4\x90\x80\x80", BROKEN BROKEN BROKEN BROKEN), /* beyond U+10FFFF */
    CASE("\xF5\x80", BROKEN BROKEN),
    CASE("\xE2\x82", BROKEN),      /* torn at the end: one for the maximal part */
    CASE("\xF0\x9F\x90", BROKEN),  /* the same, four bytes */
    CASE("\xE2\x82x", BROKEN "x"), /* torn in the middle */
    CASE("\xE2\"", BROKEN "\\\""), /* the quote is not swallowed */
    CASE("\xC3\xC3\xA9", BROKEN "\xC3\xA9"),
};

static void test_json_strings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof json_cases / sizeof json_cases[0]; i++) {
        struct rh_strbuf sb = RH_STRBUF_INIT;
        rh_strbuf_add_jsonn(&sb, json_cases[i].bytes, json_cases[i].len);
        assert_string_equal(sb.data, json_cases[i].expected);
        assert_int_equal(sb.len, strlen(json_cases[i].expected));
        rh_strbuf_release(&sb);
    }
    struct rh_strbuf sb = RH_STRBUF_INIT;
    rh_strbuf_add(&sb, "x: ");
    rh_strbuf_add_json(&sb, "q->head");
    assert_string_equal(sb.data, "x: \"q->head\"");
    rh_strbuf_release(&sb);
}

/* Decodes strictly, by another method than the one under test; false if `text` is not UTF-8. */
static bool is_utf8(const unsigned char *text, size_t len)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    for (size_t i = 0; i < len;) {
        unsigned more = text[i] < 0x80             ? 0
                        : (text[i] & 0xE0) == 0xC0 ? 1
                        : (text[i] & 0xF0) == 0xE0 ? 2
                        : (text[i] & 0xF8) == 0xF0 ? 3
                                                   : 4;
        if (more == 4 || i + more >= len)
            return false;
        uint32_t point = more == 0 ? text[i] : text[i] & (0x3Fu >> more);
        for (unsigned k = 1; k <= more; k++) {
            if ((text[i + k] & 0xC0) != 0x80)
                return false;
            point = point << 6 | (text[i + k] & 0x3F);
        }
        if (point < least[more] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
            return false;
        i += more + 1;
    }
    return true;
}

/* Every pair of bytes, with neighbours that complete many sequences. */
static void test_html(void **state)
{
    (void)state;
    struct rh_strbuf sb = RH_STRBUF_INIT;
    rh_strbuf_add_html(&sb, "a<b> & \"c\" 'd'\t\033\x7f gr\xc3\xb6\xff\xc3(");
    assert_string_equal(sb.data, "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;\t\xEF\xBF\xBD"
                                 "\xEF\xBF\xBD gr\xc3\xb6\xEF\xBF\xBD\xEF\xBF\xBD(");
    rh_strbuf_release(&sb);
}

static void test_json_of_any_bytes_is_utf8(void **state)
{
    (void)state;
    for (unsigned pair = 0; pair < 0x10000; pair++) {
        char bytes[] = {(char)(pair >> 8), (char)pair, (char)0x80, (char)0xBF};
        for (size_t len = 1; len <= sizeof bytes; len++) {
            struct rh_strbuf sb = RH_STRBUF_INIT;
            rh_strbuf_add_jsonn(&sb, bytes, len);
            if (!is_utf8((const unsigned char *)sb.data, sb.len))
                fail_msg("broken output for %04x, %zu bytes", pair, len);
            bool was_valid = is_utf8((const unsigned char *)bytes, len);
            if (was_valid != !strstr(sb.data, BROKEN))
                fail_msg("wrongly judged %04x, %zu bytes", pair, len);
            rh_strbuf_release(&sb);
        }
    }
}

static void test_quoted_words(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"plain", "plain"}, {"-O2", "-O2"},   {"a/b.c:4=x,y@%+_", "a/b.c:4=x,y@%+_"},
        {"", "''"},         {"a b", "'a b'"}, {"it's", "'it'\\''s'"},
        {"$x", "'$x'"},     {"~", "'~'"},     {"a\nb", "'a\nb'"},
        {"*", "'*'"},       {"'", "''\\'''"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rh_strbuf sb = RH_STRBUF_INIT;
        rh_strbuf_add_quoted(&sb, cases[i][0]);
        assert_string_equal(sb.data, cases[i][1]);
        rh_strbuf_release(&sb);
    }
}

/* What a shell makes of the quoted word must be the word again, for every byte. */
static void test_quoted_words_survive_a_shell(void **state)
{
    (void)state;
    char all[256];
    for (int i = 0; i < 255; i++)
        all[i] = (char)(i + 1);
    all[255] = '\0';
    struct rh_strbuf line = RH_STRBUF_INIT, out = RH_STRBUF_INIT;
    rh_strbuf_add(&line, "printf %s ");
    rh_strbuf_add_quoted(&line, all);
    const char *argv[] = {"sh", "-c", line.data, NULL};
    assert_int_equal(run_program(argv, &out), 0);
    assert_string_equal(rh_strbuf_text(&out), all);
    rh_strbuf_release(&line);
    rh_strbuf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_is_a_string),
        cmocka_unit_test(test_adding_grows),
        cmocka_unit_test(test_formatting_at_every_length),
        cmocka_unit_test(test_detach_hands_over),
        cmocka_unit_test(test_json_strings),
        cmocka_unit_test(test_html),
        cmocka_unit_test(test_json_of_any_bytes_is_utf8),
        cmocka_unit_test(test_quoted_words),
        cmocka_unit_test(test_quoted_words_survive_a_shell),
    };
    return cmocka_run_group_tests_name("strbuf", tests, NULL, NULL);
}
