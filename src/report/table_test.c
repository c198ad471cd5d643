/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: alignment by what is seen, harmless cells, colours on demand. */
#include "report/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct rh_table_column columns[] = {
    {.title = "NAME"}, {.title = "N", .right = true}, {.title = "LAST"}};

/* Prints the cells, whose number is a multiple of three, and compares. */
static void assert_table(const char *const *cells, size_t count, bool coloured,
                         const char *expected)
{
    struct rh_table table;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    rh_table_init(&table, columns, 3);
    for (size_t i = 0; i < count; i++)
        rh_table_add(&table, cells[i], i == 0 ? RH_COLOUR_CYAN : RH_COLOUR_NONE);
    rh_table_print(&table, out, coloured);
    rh_table_release(&table);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void no_rows_print_nothing(void **state)
{
    (void)state;
    assert_table(NULL, 0, true, "");
}

static void columns_fit_what_is_seen(void **state)
{
    (void)state;
    static const char *const cells[] = {"a", "1", "x", "gr\xc3\xb6\xc3\x9f\x65", "1234", ""};
    assert_table(cells, 6, false,
                 "NAME      N  LAST\n"
                 "a         1  x\n"
                 "gr\xc3\xb6\xc3\x9f\x65  1234  \n");
}

static void a_very_wide_cell_moves_its_own_row_alone(void **state)
{
    (void)state;
    char wide[50];
    memset(wide, 'w', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    const char *cells[] = {"a", "1", "x", wide, "2", "y"};
    char expected[200];
    snprintf(expected, sizeof expected, "NAME  N  LAST\na     1  x\n%s  2  y\n", wide);
    assert_table(cells, 6, false, expected);
}

static void control_characters_are_harmless(void **state)
{
    (void)state;
    static const char *const cells[] = {"a\033[2Jb", "1\n", "\xc2\x9b\x7f\xc2\xa0\xc2"};
    assert_table(cells, 3, false,
                 "NAME     N  LAST\n"
                 "a?[2Jb  1?  ???\xc2\xa0\xc2\n");
}

static void colours_do_not_count_as_width(void **state)
{
    (void)state;
    static const char *const cells[] = {"a", "1", "x"};
    assert_table(cells, 3, true,
                 "\033[1mNAME\033[0m  \033[1mN\033[0m  \033[1mLAST\033[0m\n"
                 "\033[36ma\033[0m     1  x\n");
}

static void a_table_without_titles_has_rows_alone(void **state)
{
    (void)state;
    static const struct rh_table_column untitled[2] = {{0}};
    struct rh_table table;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    rh_table_init(&table, untitled, 2);
    rh_table_add(&table, "a", RH_COLOUR_NONE);
    rh_table_add(&table, "1", RH_COLOUR_NONE);
    rh_table_add(&table, "bcd", RH_COLOUR_NONE);
    rh_table_add(&table, "2", RH_COLOUR_NONE);
    rh_table_print(&table, out, true);
    rh_table_release(&table);
    fclose(out);
    assert_string_equal(text, "a    1\nbcd  2\n");
    free(text);
}

static void texts_outside_tables_are_harmless_too(void **state)
{
    (void)state;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    rh_table_print_text("a\033b", RH_COLOUR_NONE, out, true);
    rh_table_print_text("c", RH_COLOUR_BOLD, out, true);
    rh_table_print_text("d", RH_COLOUR_BOLD, out, false);
    fclose(out);
    assert_string_equal(text, "a?b\033[1mc\033[0md");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_rows_print_nothing),
        cmocka_unit_test(columns_fit_what_is_seen),
        cmocka_unit_test(a_very_wide_cell_moves_its_own_row_alone),
        cmocka_unit_test(control_characters_are_harmless),
        cmocka_unit_test(colours_do_not_count_as_width),
        cmocka_unit_test(a_table_without_titles_has_rows_alone),
        cmocka_unit_test(texts_outside_tables_are_harmless_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
