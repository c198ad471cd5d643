/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of source files, for excerpts in reports.
 *
 * A file is sought where the compiler recorded it, then below the current folder under ever shorter
 * ends of that path, because sources and programs move together. Each file is read once.
 */
#ifndef RH_REPORT_SOURCE_H
#define RH_REPORT_SOURCE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

struct rh_source {
    struct rh_arena arena;
    struct rh_strmap files; /* path -> contents, NULL if it was not found */
};

#define RH_SOURCE_NO_CARET SIZE_MAX

void rh_source_init(struct rh_source *source);
void rh_source_release(struct rh_source *source);

/* Lines shown before and behind the one that matters. */
enum { RH_SOURCE_AROUND = 2 };

/* Whether the file is there and has the line. */
bool rh_source_has(struct rh_source *source, const char *path, uint32_t line);

/*
 * Adds a line, tabs made spaces and other control characters harmless; *caret is how many
 * characters stand before `column`, or RH_SOURCE_NO_CARET. False if there is no such line.
 */
bool rh_source_line(struct rh_source *source, const char *path, uint32_t line, uint32_t column,
                    struct rh_strbuf *text, size_t *caret);

#endif
