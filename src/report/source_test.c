/* SPDX-License-Identifier: Apache-2.0 */
/* Excerpts of source files: where they are sought, and where the caret stands. */
#include "report/source.h"

#include "base/testing.h"

#include <string.h>

/* The line as shown, with a caret put into it; NULL if there is none. */
static char *show(const char *path, uint32_t line, uint32_t column)
{
    struct rh_source source;
    struct rh_strbuf text = RH_STRBUF_INIT;
    size_t caret;
    rh_source_init(&source);
    bool found = rh_source_line(&source, path, line, column, &text, &caret);
    rh_source_release(&source);
    if (!found)
        return NULL;
    if (caret != RH_SOURCE_NO_CARET)
        rh_strbuf_addf(&text, "@%zu", caret);
    return rh_strbuf_detach(&text);
}

static void assert_shown(const char *expected, const char *path, uint32_t line, uint32_t column)
{
    char *shown = show(path, line, column);
    if (expected) {
        assert_non_null(shown);
        assert_string_equal(shown, expected);
    } else {
        assert_null(shown);
    }
    free(shown);
}

static void write_file(const char *path, const char *text)
{
    assert_status(RH_OK, rh_fs_write(path, text, strlen(text), 0666));
}

static void lines_come_with_their_caret(void **state)
{
    char *path = rh_format("%s/a.c", (const char *)*state);
    write_file(path, "int x;\n\tx\t+= 1;\r\ngr\xc3\xb6\xc3\x9f\x65 = 2;\n\033[2J\n\nlast");
    assert_shown("int x;@4", path, 1, 5);
    assert_shown("int x;", path, 1, 0);
    assert_shown("int x;", path, 1, 7); /* behind the end: the file has changed since */
    assert_shown("        x       += 1;@8", path, 2, 2);
    assert_shown("        x       += 1;@16", path, 2, 4);
    assert_shown("gr\xc3\xb6\xc3\x9f\x65 = 2;@6", path, 3, 9);
    assert_shown("?[2J", path, 4, 0);
    assert_shown(NULL, path, 5, 0);
    assert_shown("last@0", path, 6, 1);
    assert_shown(NULL, path, 7, 1);
    assert_shown(NULL, path, 0, 1);
    assert_shown(NULL, NULL, 1, 1);
    free(path);
}

static void moved_sources_are_found_below_the_current_folder(void **state)
{
    char *folder = rh_format("%s/src", (const char *)*state);
    char *path = rh_format("%s/a.c", folder);
    char *before = getcwd(NULL, 0);
    assert_status(RH_OK, rh_fs_make_dirs(folder));
    write_file(path, "here\n");
    assert_return_code(chdir(*state), 0);
    assert_shown("here@0", "/build/of/someone/src/a.c", 1, 1);
    assert_shown("here@0", "src/a.c", 1, 1);
    assert_shown(NULL, "/build/of/someone/b.c", 1, 1);
    assert_shown(NULL, "/build/of/someone/src/", 1, 1);
    assert_return_code(chdir(before), 0);
    free(before);
    free(path);
    free(folder);
}

static void what_is_no_source_is_left_out(void **state)
{
    char *path = rh_format("%s/long.c", (const char *)*state);
    char line[1000];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    write_file(path, line);
    assert_shown(NULL, path, 1, 1);
    write_file(path, "");
    assert_shown(NULL, path, 1, 1);
    assert_shown(NULL, *state, 1, 1);
    assert_shown(NULL, "/dev/null", 1, 1);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(lines_come_with_their_caret),
        SCRATCH_TEST(moved_sources_are_found_below_the_current_folder),
        SCRATCH_TEST(what_is_no_source_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
