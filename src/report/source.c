/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of source files, for excerpts in reports: see source.h. */
#include "report/source.h"

#include "base/fs.h"

#include <string.h>

enum {
    TAB_WIDTH = 8,
    LONGEST_LINE = 400, /* of generated code; what is longer shows nothing useful */
};

/* The largest size, in bytes, that is taken for a source file. */
#define LARGEST_FILE ((size_t)64 << 20)

void rh_source_init(struct rh_source *source)
{
    memset(source, 0, sizeof *source);
}

void rh_source_release(struct rh_source *source)
{
    rh_strmap_release(&source->files);
    rh_arena_release(&source->arena);
}

static char *read_file(struct rh_source *source, const char *path)
{
    struct rh_fs_mapping file;
    char *text = NULL;
    if (rh_fs_map(path, &file) != RH_OK)
        return NULL;
    if (file.len > 0 && file.len <= LARGEST_FILE)
        text = rh_arena_strndup(&source->arena, file.data, file.len);
    rh_fs_unmap(&file);
    return text;
}

static char *find_file(struct rh_source *source, const char *path)
{
    char *text = read_file(source, path);
    for (const char *rest = path; !text && (rest = strchr(rest, '/'));) {
        while (*rest == '/')
            rest++;
        if (*rest)
            text = read_file(source, rest);
    }
    return text;
}

static const char *get_file(struct rh_source *source, const char *path)
{
    if (!rh_strmap_has(&source->files, path))
        rh_strmap_put(&source->files, path, find_file(source, path));
    return rh_strmap_get(&source->files, path);
}

static const char *find_line(const char *text, uint32_t line)
{
    for (uint32_t i = 1; text && i < line; i++) {
        text = strchr(text, '\n');
        if (text)
            text++;
    }
    return text && *text ? text : NULL;
}

bool rh_source_has(struct rh_source *source, const char *path, uint32_t line)
{
    return path && line > 0 && find_line(get_file(source, path), line);
}

bool rh_source_line(struct rh_source *source, const char *path, uint32_t line, uint32_t column,
                    struct rh_strbuf *text, size_t *caret)
{
    const char *from = path && line > 0 ? find_line(get_file(source, path), line) : NULL;
    size_t len = from ? strcspn(from, "\r\n") : 0, width = 0;
    *caret = RH_SOURCE_NO_CARET;
    if (len == 0 || len > LONGEST_LINE)
        return false;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)from[i];
        if (column > 0 && i == column - 1)
            *caret = width;
        size_t spaces = c == '\t' ? TAB_WIDTH - width % TAB_WIDTH : 0;
        for (size_t k = 0; k < spaces; k++)
            rh_strbuf_addc(text, ' ');
        if (spaces == 0)
            rh_strbuf_addc(text, c < 0x20 || c == 0x7F ? '?' : (char)c);
        width += spaces > 0 ? spaces : (c & 0xC0) != 0x80;
    }
    return true;
}
