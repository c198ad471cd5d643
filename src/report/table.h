/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of text for people: columns aligned by what the reader sees, colours if wanted.
 *
 *     static const struct rh_table_column columns[] = {{"WHERE"}, {"SIZE", .right = true}};
 *     struct rh_table table;
 *     rh_table_init(&table, columns, 2);
 *     rh_table_add(&table, "bank.c:41", RH_COLOUR_NONE);
 *     rh_table_addf(&table, RH_COLOUR_DIM, "%u", size);
 *     rh_table_print(&table, stdout, coloured);
 *     rh_table_release(&table);
 *
 * Cells are added row by row and copied; control characters in them are made harmless. A few very
 * wide cells do not widen their column for all rows: they push the rest of their own row aside. A
 * table whose columns have no titles prints none.
 */
#ifndef RH_REPORT_TABLE_H
#define RH_REPORT_TABLE_H

#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"
#include "racehive/image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum rh_colour {
    RH_COLOUR_NONE,
    RH_COLOUR_BOLD,
    RH_COLOUR_DIM,
    RH_COLOUR_YELLOW,
    RH_COLOUR_CYAN,
    RH_COLOUR_RED,
    RH_COLOUR_GREEN,
};

struct rh_table_column {
    const char *title; /* NULL: none; then no column has one */
    bool right;        /* aligned */
};

struct rh_table_cell {
    const char *text;
    size_t width;
    enum rh_colour colour;
};

struct rh_table {
    const struct rh_table_column *columns;
    size_t column_count;
    struct rh_arena arena;
    RH_VEC(struct rh_table_cell) cells;
};

void rh_table_init(struct rh_table *table, const struct rh_table_column *columns, size_t count);
void rh_table_release(struct rh_table *table);

/* Both add the next cell of the row, or the first of a new one. */
void rh_table_add(struct rh_table *table, const char *text, enum rh_colour colour);
void rh_table_addf(struct rh_table *table, enum rh_colour colour, const char *fmt, ...)
    RH_PRINTF(3, 4);

/* Prints titles and rows; nothing if there are no rows. */
void rh_table_print(const struct rh_table *table, FILE *out, bool coloured);

/* Prints a text outside any table as a cell would be: harmless, and in its colour if wanted. */
void rh_table_print_text(const char *text, enum rh_colour colour, FILE *out, bool coloured);

/* The colour in which all commands show an access. */
enum rh_colour rh_table_access_colour(enum rh_access_kind access);

/* The word that goes with a count. */
static inline const char *rh_table_choose(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

#endif
