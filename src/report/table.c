/* SPDX-License-Identifier: Apache-2.0 */
/* A table of text for people: columns aligned by what the reader sees, colours if wanted. */
#include "report/table.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Cells beyond this many characters do not widen their column. */
#define WIDEST_COLUMN 48

static const char gap[] = "  ";

static const char *const escapes[] = {
    [RH_COLOUR_NONE] = "",           [RH_COLOUR_BOLD] = "\033[1m",  [RH_COLOUR_DIM] = "\033[2m",
    [RH_COLOUR_YELLOW] = "\033[33m", [RH_COLOUR_CYAN] = "\033[36m", [RH_COLOUR_RED] = "\033[1;31m",
    [RH_COLOUR_GREEN] = "\033[32m",
};

#define ESCAPE_OFF "\033[0m"

void rh_table_init(struct rh_table *table, const struct rh_table_column *columns, size_t count)
{
    *table = (struct rh_table){.columns = columns, .column_count = count};
}

void rh_table_release(struct rh_table *table)
{
    rh_vec_free(&table->cells);
    rh_arena_release(&table->arena);
}

/* Names come from any source file: none may move the cursor or change the terminal's state. */
static void tame(char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool is_c1 = c == 0xC2 && ((unsigned char)text[1] & 0xE0) == 0x80;
        if (c < 0x20 || c == 0x7F)
            *text = '?';
        else if (is_c1)
            text[0] = text[1] = '?';
    }
}

static size_t measure(const char *text)
{
    size_t width = 0;
    for (; text && *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

void rh_table_add(struct rh_table *table, const char *text, enum rh_colour colour)
{
    char *copy = rh_arena_strdup(&table->arena, text);
    tame(copy);
    struct rh_table_cell cell = {.text = copy, .width = measure(copy), .colour = colour};
    rh_vec_push(&table->cells, cell);
}

void rh_table_addf(struct rh_table *table, enum rh_colour colour, const char *fmt, ...)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    va_list args;
    va_start(args, fmt);
    rh_strbuf_addv(&text, fmt, args);
    va_end(args);
    rh_table_add(table, rh_strbuf_text(&text), colour);
    rh_strbuf_release(&text);
}

static size_t *measure_columns(const struct rh_table *table)
{
    size_t count = table->column_count;
    size_t *widths = rh_calloc(count, sizeof *widths);
    for (size_t i = 0; i < count; i++) {
        widths[i] = measure(table->columns[i].title);
        for (size_t at = i; at < table->cells.len; at += count) {
            size_t cell = table->cells.data[at].width;
            if (cell > widths[i] && cell <= WIDEST_COLUMN)
                widths[i] = cell;
        }
    }
    return widths;
}

static void paint(const char *text, enum rh_colour colour, FILE *out, bool coloured)
{
    bool painted = coloured && colour != RH_COLOUR_NONE;
    fprintf(out, "%s%s%s", painted ? escapes[colour] : "", text, painted ? ESCAPE_OFF : "");
}

static void print_row(const struct rh_table *table, const struct rh_table_cell *cells,
                      const size_t *widths, FILE *out, bool coloured)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const struct rh_table_cell *cell = &cells[i];
        bool is_last = i + 1 == table->column_count;
        int padding = widths[i] > cell->width ? (int)(widths[i] - cell->width) : 0;
        if (table->columns[i].right)
            fprintf(out, "%*s", padding, "");
        paint(cell->text, cell->colour, out, coloured);
        if (!table->columns[i].right && !is_last)
            fprintf(out, "%*s", padding, "");
        fputs(is_last ? "\n" : gap, out);
    }
}

static void print_titles(const struct rh_table *table, const size_t *widths, FILE *out,
                         bool coloured)
{
    struct rh_table_cell *titles = rh_calloc(table->column_count, sizeof *titles);
    for (size_t i = 0; i < table->column_count; i++) {
        const char *title = table->columns[i].title;
        titles[i] = (struct rh_table_cell){title, measure(title), RH_COLOUR_BOLD};
    }
    print_row(table, titles, widths, out, coloured);
    free(titles);
}

void rh_table_print(const struct rh_table *table, FILE *out, bool coloured)
{
    if (table->cells.len == 0)
        return;
    size_t count = table->column_count;
    size_t *widths = measure_columns(table);
    if (table->columns[0].title)
        print_titles(table, widths, out, coloured);
    for (size_t i = 0; i + count <= table->cells.len; i += count)
        print_row(table, &table->cells.data[i], widths, out, coloured);
    free(widths);
}

void rh_table_print_text(const char *text, enum rh_colour colour, FILE *out, bool coloured)
{
    char *copy = rh_strdup(text);
    tame(copy);
    paint(copy, colour, out, coloured);
    free(copy);
}

enum rh_colour rh_table_access_colour(enum rh_access_kind access)
{
    static const enum rh_colour colours[RH_ACCESS_COUNT] = {
        [RH_ACCESS_READ] = RH_COLOUR_NONE,          [RH_ACCESS_WRITE] = RH_COLOUR_YELLOW,
        [RH_ACCESS_ATOMIC_READ] = RH_COLOUR_CYAN,   [RH_ACCESS_ATOMIC_WRITE] = RH_COLOUR_CYAN,
        [RH_ACCESS_ATOMIC_UPDATE] = RH_COLOUR_CYAN, [RH_ACCESS_FENCE] = RH_COLOUR_CYAN,
    };
    return colours[access];
}
