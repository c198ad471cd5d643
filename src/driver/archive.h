/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ar` archives: walking through the members, and writing a copy with some of them.
 *
 * Read are GNU archives, regular and thin (whose members are files of their own, named relative to
 * the archive), with short and long names. Format: the magic of 8 bytes; then for each member a
 * header of 60 bytes at an even offset and, except for a thin archive's ordinary members, the data.
 *
 *     bytes  0-15  name: "NAME/", or "/N" for the name at offset N of the member "//", where it
 *                  ends in "/\n"; "/" and "/SYM64/" are symbol tables
 *     bytes 16-47  date, owner, group, mode
 *     bytes 48-57  size in decimal
 *     bytes 58-59  "`\n"
 */
#ifndef RH_DRIVER_ARCHIVE_H
#define RH_DRIVER_ARCHIVE_H

#include "base/fs.h"
#include "base/status.h"
#include "base/strbuf.h"

#include <stdbool.h>

struct rh_archive {
    const char *path; /* the caller's, for messages and thin members */
    struct rh_fs_mapping file;
    bool thin;
    size_t next;                /* offset of the next header */
    size_t names_at, names_len; /* the data of "//" */
};

struct rh_archive_member {
    char *name; /* heap string, as stored */
    const void *data;
    size_t len;
    struct rh_fs_mapping file; /* of a thin archive's member */
};

enum rh_status rh_archive_open(struct rh_archive *archive, const char *path);
void rh_archive_close(struct rh_archive *archive);

/* Gives the next ordinary member, to be given back; *found is false when there are no more. */
enum rh_status rh_archive_next(struct rh_archive *archive, struct rh_archive_member *member,
                               bool *found);
void rh_archive_release_member(struct rh_archive_member *member);

/*
 * A regular archive in the making; all zero is an empty one. It has no symbol table, which lld does
 * not need.
 */
struct rh_archive_writer {
    struct rh_strbuf names; /* the table of long names, which comes before all members */
    struct rh_strbuf members;
};

void rh_archive_add(struct rh_archive_writer *writer, const char *name, const void *data,
                    size_t len);

/* Writes the archive and gives the writer's memory back. */
enum rh_status rh_archive_write(struct rh_archive_writer *writer, const char *path);

#endif
