/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of response files. */
#include "base/testing.h"

#include "base/path.h"
#include "driver/wordlist.h"

#include <string.h>

static void assert_words(const struct rh_wordlist *words, const char *const *expected, size_t count)
{
    assert_int_equal(words->len, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(words->data[i], expected[i]);
}

#define ASSERT_WORDS(words, ...)                                                                   \
    do {                                                                                           \
        const char *const expected_[] = {__VA_ARGS__};                                             \
        assert_words((words), expected_, sizeof expected_ / sizeof expected_[0]);                  \
    } while (0)

static void split_honours_quotes_and_backslashes(void **state)
{
    (void)state;
    struct rh_arena arena = RH_ARENA_INIT;
    struct rh_wordlist words = RH_VEC_INIT;
    rh_wordlist_split(&words, &arena, " a\t'b c' \"d 'e'\"\nf\\ g h\"i j\"k '' \\\\\r\n");
    ASSERT_WORDS(&words, "a", "b c", "d 'e'", "f g", "hi jk", "", "\\");
    rh_vec_free(&words);
    rh_arena_release(&arena);
}

static void join_is_undone_by_split(void **state)
{
    (void)state;
    const char *list[] = {"plain", "", "a b", "q\"uote", "ap'os", "back\\slash", "new\nline"};
    struct rh_wordlist words = {list, sizeof list / sizeof list[0], 0}, again = RH_VEC_INIT;
    struct rh_strbuf text = RH_STRBUF_INIT;
    struct rh_arena arena = RH_ARENA_INIT;
    rh_wordlist_join(&words, &text);
    rh_wordlist_split(&again, &arena, rh_strbuf_text(&text));
    assert_words(&again, words.data, words.len);
    rh_vec_free(&again);
    rh_strbuf_release(&text);
    rh_arena_release(&arena);
}

static void expand_reads_files_in_files(void **state)
{
    char *inner = rh_path_join(*state, "inner"), *outer = rh_path_join(*state, "outer");
    assert_int_equal(rh_fs_write(inner, "two three", 9, 0666), RH_OK);
    struct rh_strbuf text = RH_STRBUF_INIT;
    rh_strbuf_addf(&text, "one @%s four @%s/nosuch", inner, (const char *)*state);
    assert_int_equal(rh_fs_write(outer, text.data, text.len, 0666), RH_OK);

    char *word = rh_format("@%s", outer), *missing = rh_format("@%s/nosuch", (char *)*state);
    const char *argv[] = {"zero", word, "five", "@"};
    struct rh_arena arena = RH_ARENA_INIT;
    struct rh_wordlist words = RH_VEC_INIT;
    rh_wordlist_expand(&words, &arena, 4, argv);
    ASSERT_WORDS(&words, "zero", "one", "two", "three", "four", missing, "five", "@");
    rh_vec_free(&words);
    rh_arena_release(&arena);
    rh_strbuf_release(&text);
    free(word);
    free(missing);
    free(inner);
    free(outer);
}

static void expand_ends_on_a_circle(void **state)
{
    char *path = rh_path_join(*state, "circle");
    struct rh_strbuf text = RH_STRBUF_INIT;
    rh_strbuf_addf(&text, "x @%s", path);
    assert_int_equal(rh_fs_write(path, text.data, text.len, 0666), RH_OK);
    char *word = rh_format("@%s", path);
    const char *argv[] = {word};
    struct rh_arena arena = RH_ARENA_INIT;
    struct rh_wordlist words = RH_VEC_INIT;
    rh_wordlist_expand(&words, &arena, 1, argv);
    assert_true(words.len > 1);
    assert_string_equal(rh_vec_last(&words), word);
    rh_vec_free(&words);
    rh_arena_release(&arena);
    rh_strbuf_release(&text);
    free(word);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_honours_quotes_and_backslashes),
        cmocka_unit_test(join_is_undone_by_split),
        cmocka_unit_test_setup_teardown(expand_reads_files_in_files, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(expand_ends_on_a_circle, make_scratch, remove_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
