/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable string of bytes.
 *
 * A strbuf whose bytes are all zero is valid and empty, so RH_STRBUF_INIT and calloc both make one.
 * Invariants: data[0..len) are the bytes, which may include NUL; once anything was added,
 * data[len] is NUL; before that, data is NULL, so read through rh_strbuf_text(), which is always a
 * string. The strbuf owns data until rh_strbuf_detach(). Adding never fails. What is added must
 * not point into the same strbuf.
 */
#ifndef RH_BASE_STRBUF_H
#define RH_BASE_STRBUF_H

#include "base/status.h"

#include <stdarg.h>
#include <stddef.h>

struct rh_strbuf {
    char *data;
    size_t len;
    size_t cap;
};

#define RH_STRBUF_INIT                                                                             \
    {                                                                                              \
        0                                                                                          \
    }

void rh_strbuf_init(struct rh_strbuf *sb);

/* Gives the memory back; the strbuf is then empty and may be used again. */
void rh_strbuf_release(struct rh_strbuf *sb);

/* Empties the strbuf and keeps its memory. */
void rh_strbuf_reset(struct rh_strbuf *sb);

/* Shortens the contents to `len` bytes, which must not exceed the present length. */
void rh_strbuf_truncate(struct rh_strbuf *sb, size_t len);

/* Makes room for `extra` more bytes and the NUL behind them. */
void rh_strbuf_reserve(struct rh_strbuf *sb, size_t extra);

/* The contents as a string, "" when empty; valid until the strbuf changes. */
const char *rh_strbuf_text(const struct rh_strbuf *sb);

/* Hands the contents over as a heap string, never NULL; the strbuf is then empty. */
char *rh_strbuf_detach(struct rh_strbuf *sb);

void rh_strbuf_add(struct rh_strbuf *sb, const char *text);
void rh_strbuf_addn(struct rh_strbuf *sb, const void *bytes, size_t len);
void rh_strbuf_addc(struct rh_strbuf *sb, char c);
void rh_strbuf_addf(struct rh_strbuf *sb, const char *fmt, ...) RH_PRINTF(2, 3);
void rh_strbuf_addv(struct rh_strbuf *sb, const char *fmt, va_list args) RH_PRINTF(2, 0);

/*
 * Adds a complete JSON string, quotes included. The result is valid UTF-8 whatever the input:
 * bytes that are not become U+FFFD, one for each maximal broken sequence.
 */
void rh_strbuf_add_json(struct rh_strbuf *sb, const char *text);
void rh_strbuf_add_jsonn(struct rh_strbuf *sb, const char *bytes, size_t len);

/* Adds `text` as text of HTML, also good inside a quoted attribute; valid UTF-8 as above. */
void rh_strbuf_add_html(struct rh_strbuf *sb, const char *text);

/* Adds `text` as one word of a POSIX shell, quoted only where it must be. */
void rh_strbuf_add_quoted(struct rh_strbuf *sb, const char *text);

/* A heap string made as by printf, never NULL. */
char *rh_format(const char *fmt, ...) RH_PRINTF(1, 2);

#endif
