/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing `ar` archives. */
#include "driver/archive.h"

#include "base/mem.h"
#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC_LEN 8
static const char regular_magic[] = "!<arch>\n";
static const char thin_magic[] = "!<thin>\n";

/* The members' header, all of it text padded with blanks. */
struct header {
    char name[16];
    char date[12];
    char owner[6];
    char group[6];
    char mode[8];
    char size[10];
    char end[2];
};
_Static_assert(sizeof(struct header) == 60, "the format's size");

enum rh_status rh_archive_open(struct rh_archive *archive, const char *path)
{
    *archive = (struct rh_archive){.path = path, .next = MAGIC_LEN};
    enum rh_status status = rh_fs_map(path, &archive->file);
    if (status != RH_OK)
        return status;
    const char *data = archive->file.data;
    bool sized = archive->file.len >= MAGIC_LEN;
    archive->thin = sized && memcmp(data, thin_magic, MAGIC_LEN) == 0;
    if (archive->thin || (sized && memcmp(data, regular_magic, MAGIC_LEN) == 0))
        return RH_OK;
    rh_fs_unmap(&archive->file);
    return rh_fail(RH_ERR_INPUT, "%s is not an archive", path);
}

void rh_archive_close(struct rh_archive *archive)
{
    rh_fs_unmap(&archive->file);
}

/* A decimal number that fills a field up to its blanks; false if there is anything else. */
static bool parse_field(const char *field, size_t len, size_t *value)
{
    size_t i = 0;
    *value = 0;
    for (; i < len && field[i] >= '0' && field[i] <= '9'; i++)
        *value = *value * 10 + (size_t)(field[i] - '0');
    bool any = i > 0;
    while (i < len && field[i] == ' ')
        i++;
    return any && i == len;
}

/* The name in the header or in the table of long names; NULL if it is not to be had. */
static char *read_name(const struct rh_archive *archive, const struct header *header)
{
    size_t at;
    if (header->name[0] == '/' && parse_field(header->name + 1, sizeof header->name - 1, &at)) {
        if (at >= archive->names_len)
            return NULL;
        const char *name = (const char *)archive->file.data + archive->names_at + at;
        const char *end = memchr(name, '\n', archive->names_len - at);
        if (!end || end == name || end[-1] != '/')
            return NULL;
        return rh_strndup(name, (size_t)(end - 1 - name));
    }
    size_t len = sizeof header->name;
    while (len > 0 && header->name[len - 1] == ' ')
        len--;
    if (len > 1 && header->name[len - 1] == '/')
        len--;
    return rh_strndup(header->name, len);
}

/* Symbol tables and the table of names are stored as members, also in a thin archive. */
static bool is_special(const struct header *header)
{
    return memcmp(header->name, "/ ", 2) == 0 || memcmp(header->name, "// ", 3) == 0 ||
           memcmp(header->name, "/SYM64/ ", 8) == 0;
}

static enum rh_status fail_damaged(const struct rh_archive *archive)
{
    return rh_fail(RH_ERR_INPUT, "the archive %s is damaged", archive->path);
}

/* Reads the header at archive->next and moves that behind the member. */
static enum rh_status read_header(struct rh_archive *archive, struct header *header,
                                  size_t *data_at, size_t *len)
{
    size_t left = archive->file.len - archive->next;
    if (left < sizeof *header)
        return fail_damaged(archive);
    memcpy(header, (const char *)archive->file.data + archive->next, sizeof *header);
    *data_at = archive->next + sizeof *header;
    if (memcmp(header->end, "`\n", 2) != 0 || !parse_field(header->size, sizeof header->size, len))
        return fail_damaged(archive);
    size_t stored = archive->thin && !is_special(header) ? 0 : *len;
    if (stored > left - sizeof *header)
        return fail_damaged(archive);
    archive->next = *data_at + stored + (stored & 1);
    return RH_OK;
}

static enum rh_status map_thin_member(const struct rh_archive *archive,
                                      struct rh_archive_member *member)
{
    char *folder = rh_path_dirname(archive->path);
    char *path = rh_path_join(folder, member->name);
    enum rh_status status = rh_fs_map(path, &member->file);
    member->data = member->file.data;
    member->len = member->file.len;
    free(path);
    free(folder);
    return status;
}

enum rh_status rh_archive_next(struct rh_archive *archive, struct rh_archive_member *member,
                               bool *found)
{
    *member = (struct rh_archive_member){0};
    *found = false;
    while (archive->next < archive->file.len) {
        struct header header;
        size_t at = 0, len = 0;
        enum rh_status status = read_header(archive, &header, &at, &len);
        if (status != RH_OK)
            return status;
        if (memcmp(header.name, "// ", 3) == 0) {
            archive->names_at = at;
            archive->names_len = len;
        }
        if (is_special(&header))
            continue;
        member->name = read_name(archive, &header);
        if (!member->name)
            return fail_damaged(archive);
        member->data = (const char *)archive->file.data + at;
        member->len = len;
        if (archive->thin)
            status = map_thin_member(archive, member);
        *found = status == RH_OK;
        if (!*found)
            rh_archive_release_member(member);
        return status;
    }
    return RH_OK;
}

void rh_archive_release_member(struct rh_archive_member *member)
{
    rh_fs_unmap(&member->file);
    free(member->name);
    *member = (struct rh_archive_member){0};
}

static void add_header(struct rh_strbuf *out, const char *name, size_t len)
{
    rh_strbuf_addf(out, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "644", len);
}

static void add_padding(struct rh_strbuf *out)
{
    if (out->len & 1)
        rh_strbuf_addc(out, '\n');
}

void rh_archive_add(struct rh_archive_writer *writer, const char *name, const void *data,
                    size_t len)
{
    char field[24];
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    if (strlen(base) < sizeof((struct header *)0)->name) {
        snprintf(field, sizeof field, "%s/", base);
    } else {
        snprintf(field, sizeof field, "/%zu", writer->names.len);
        rh_strbuf_addf(&writer->names, "%s/\n", base);
    }
    add_header(&writer->members, field, len);
    rh_strbuf_addn(&writer->members, data, len);
    add_padding(&writer->members);
}

enum rh_status rh_archive_write(struct rh_archive_writer *writer, const char *path)
{
    struct rh_strbuf head = RH_STRBUF_INIT;
    rh_strbuf_add(&head, regular_magic);
    if (writer->names.len > 0) {
        add_header(&head, "//", writer->names.len);
        rh_strbuf_addn(&head, writer->names.data, writer->names.len);
        add_padding(&head);
    }
    FILE *out = fopen(path, "wbe");
    bool good = out && fwrite(head.data, head.len, 1, out) == 1;
    if (good && writer->members.len > 0)
        good = fwrite(writer->members.data, writer->members.len, 1, out) == 1;
    if (out && fclose(out) != 0)
        good = false;
    enum rh_status status = RH_OK;
    if (!good)
        status = rh_fail_errno(RH_ERR_IO, "cannot write %s", path);
    rh_strbuf_release(&head);
    rh_strbuf_release(&writer->names);
    rh_strbuf_release(&writer->members);
    return status;
}
