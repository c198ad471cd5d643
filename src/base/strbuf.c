/* SPDX-License-Identifier: Apache-2.0 */
/* Growable strings, with the quoting that JSON and shells want. */
#include "base/strbuf.h"

#include "base/mem.h"
#include "base/vec.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rh_strbuf_init(struct rh_strbuf *sb)
{
    *sb = (struct rh_strbuf)RH_STRBUF_INIT;
}

void rh_strbuf_release(struct rh_strbuf *sb)
{
    free(sb->data);
    rh_strbuf_init(sb);
}

void rh_strbuf_truncate(struct rh_strbuf *sb, size_t len)
{
    assert(len <= sb->len);
    sb->len = len;
    if (sb->data)
        sb->data[len] = '\0';
}

void rh_strbuf_reset(struct rh_strbuf *sb)
{
    rh_strbuf_truncate(sb, 0);
}

void rh_strbuf_reserve(struct rh_strbuf *sb, size_t extra)
{
    if (extra == SIZE_MAX)
        rh_out_of_memory(extra);
    bool fresh = !sb->data;
    sb->data = rh_vec_grow(sb->data, &sb->cap, sb->len, extra + 1, 1);
    if (fresh)
        sb->data[0] = '\0';
}

const char *rh_strbuf_text(const struct rh_strbuf *sb)
{
    return sb->data ? sb->data : "";
}

char *rh_strbuf_detach(struct rh_strbuf *sb)
{
    rh_strbuf_reserve(sb, 0);
    char *text = sb->data;
    rh_strbuf_init(sb);
    return text;
}

void rh_strbuf_addn(struct rh_strbuf *sb, const void *bytes, size_t len)
{
    rh_strbuf_reserve(sb, len);
    if (len > 0)
        memcpy(sb->data + sb->len, bytes, len);
    sb->len += len;
    sb->data[sb->len] = '\0';
}

void rh_strbuf_add(struct rh_strbuf *sb, const char *text)
{
    rh_strbuf_addn(sb, text, strlen(text));
}

void rh_strbuf_addc(struct rh_strbuf *sb, char c)
{
    rh_strbuf_addn(sb, &c, 1);
}

void rh_strbuf_addv(struct rh_strbuf *sb, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    rh_strbuf_reserve(sb, 64);
    size_t room = sb->cap - sb->len;
    int len = vsnprintf(sb->data + sb->len, room, fmt, args);
    if (len >= 0 && (size_t)len >= room) {
        rh_strbuf_reserve(sb, (size_t)len);
        vsnprintf(sb->data + sb->len, (size_t)len + 1, fmt, again);
    }
    va_end(again);
    if (len > 0)
        sb->len += (size_t)len;
    sb->data[sb->len] = '\0';
}

void rh_strbuf_addf(struct rh_strbuf *sb, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    rh_strbuf_addv(sb, fmt, args);
    va_end(args);
}

char *rh_format(const char *fmt, ...)
{
    struct rh_strbuf sb = RH_STRBUF_INIT;
    va_list args;
    va_start(args, fmt);
    rh_strbuf_addv(&sb, fmt, args);
    va_end(args);
    return rh_strbuf_detach(&sb);
}

/*
 * UTF-8 sequences longer than one byte: the range of the first byte, that of the second, and the
 * number of bytes. The second byte's range is what excludes overlong forms, surrogates and numbers
 * beyond U+10FFFF; all later bytes are 80..BF.
 */
struct utf8_form {
    unsigned char first_low, first_high, second_low, second_high, length;
};

static const struct utf8_form utf8_forms[] = {
    {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
    {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
    {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

/* The bytes, at least 1, that the sequence at `at` takes; *valid tells a whole one from a torn. */
static size_t measure_utf8(const unsigned char *at, size_t left, bool *valid)
{
    *valid = at[0] < 0x80;
    if (*valid)
        return 1;
    const struct utf8_form *form = NULL;
    for (size_t i = 0; i < sizeof utf8_forms / sizeof utf8_forms[0]; i++)
        if (at[0] >= utf8_forms[i].first_low && at[0] <= utf8_forms[i].first_high)
            form = &utf8_forms[i];
    if (!form)
        return 1;
    size_t n = 1;
    if (left > 1 && at[1] >= form->second_low && at[1] <= form->second_high)
        for (n = 2; n < form->length && n < left && (at[n] & 0xC0) == 0x80;)
            n++;
    *valid = n == form->length;
    return n;
}

/* The letter behind the backslash for the characters that have a short escape, else 0. */
static char find_short_escape(unsigned char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *at = c ? strchr(plain, c) : NULL;
    return at ? letters[at - plain] : 0;
}

static void add_json_char(struct rh_strbuf *sb, unsigned char c)
{
    char letter = find_short_escape(c);
    if (letter)
        rh_strbuf_addf(sb, "\\%c", letter);
    else if (c < 0x20 || c == 0x7F)
        rh_strbuf_addf(sb, "\\u%04x", c);
    else
        rh_strbuf_addc(sb, (char)c);
}

/* Adds text of any bytes as valid UTF-8; single-byte characters go through `add_char`. */
static void add_utf8(struct rh_strbuf *sb, const char *bytes, size_t len,
                     void (*add_char)(struct rh_strbuf *sb, unsigned char c))
{
    const unsigned char *at = (const unsigned char *)bytes;
    while (len > 0) {
        bool valid;
        size_t n = measure_utf8(at, len, &valid);
        if (!valid)
            rh_strbuf_add(sb, "\xEF\xBF\xBD");
        else if (n == 1)
            add_char(sb, *at);
        else
            rh_strbuf_addn(sb, at, n);
        at += n;
        len -= n;
    }
}

void rh_strbuf_add_jsonn(struct rh_strbuf *sb, const char *bytes, size_t len)
{
    rh_strbuf_reserve(sb, len + 2);
    rh_strbuf_addc(sb, '"');
    add_utf8(sb, bytes, len, add_json_char);
    rh_strbuf_addc(sb, '"');
}

void rh_strbuf_add_json(struct rh_strbuf *sb, const char *text)
{
    rh_strbuf_add_jsonn(sb, text, strlen(text));
}

/* Quotes too, so that the text may stand in an attribute of either kind. */
static void add_html_char(struct rh_strbuf *sb, unsigned char c)
{
    switch (c) {
    case '<':
        rh_strbuf_add(sb, "&lt;");
        break;
    case '>':
        rh_strbuf_add(sb, "&gt;");
        break;
    case '&':
        rh_strbuf_add(sb, "&amp;");
        break;
    case '"':
        rh_strbuf_add(sb, "&quot;");
        break;
    case '\'':
        rh_strbuf_add(sb, "&#39;");
        break;
    default:
        if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7F)
            rh_strbuf_add(sb, "\xEF\xBF\xBD");
        else
            rh_strbuf_addc(sb, (char)c);
    }
}

void rh_strbuf_add_html(struct rh_strbuf *sb, const char *text)
{
    add_utf8(sb, text, strlen(text), add_html_char);
}

void rh_strbuf_add_quoted(struct rh_strbuf *sb, const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "%+,-./:=@_";
    if (*text && text[strspn(text, safe)] == '\0') {
        rh_strbuf_add(sb, text);
        return;
    }
    rh_strbuf_addc(sb, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            rh_strbuf_add(sb, "'\\''");
        else
            rh_strbuf_addc(sb, *text);
    }
    rh_strbuf_addc(sb, '\'');
}
