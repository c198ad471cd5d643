/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and folders: whole-file reading, atomic writing, temporary folders.
 *
 * A missing file or folder is RH_ERR_NOT_FOUND, every other trouble with the system RH_ERR_IO.
 * Paths are handled by base/path.h, which this header includes.
 */
#ifndef RH_BASE_FS_H
#define RH_BASE_FS_H

#include "base/path.h"
#include "base/status.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* Appends the whole file to `out`, which is unchanged on failure; works on pipes and /proc too. */
enum rh_status rh_fs_read(const char *path, struct rh_strbuf *out);

/* A regular file seen as read-only memory, which must not shrink meanwhile. */
struct rh_fs_mapping {
    const void *data;
    size_t len;
};

/* Of anything but a regular file, RH_ERR_INPUT or RH_ERR_IO. */
enum rh_status rh_fs_map(const char *path, struct rh_fs_mapping *mapping);
void rh_fs_unmap(struct rh_fs_mapping *mapping);

/*
 * A file being written, which appears under its name complete or not at all.
 *
 *     struct rh_file file;
 *     status = rh_file_begin(&file, path, 0666);
 *     ... fprintf(file.stream, ...); errors may be ignored until the commit ...
 *     status = rh_file_commit(&file);          // or rh_file_abort(&file)
 *
 * After a successful begin exactly one of commit and abort must follow; the struct must stay at
 * its address until then. The contents go to temp_path in the same folder; another writer (a child
 * process, SQLite) may fill or replace temp_path instead of using the stream. A symbolic link to a
 * file stays a link. Where the name is a device or a pipe (/dev/null, /dev/stdout), nothing is
 * replaced: the stream writes to it directly and temp_path is NULL.
 */
struct rh_file {
    FILE *stream; /* write front to back; it cannot seek */
    char *temp_path;
    char *path; /* what temp_path becomes; symbolic links resolved */
    int fd;
    int error; /* errno of the first failed write */
};

/* Starts a file whose permissions will be `mode` less the umask, as with open(). */
enum rh_status rh_file_begin(struct rh_file *file, const char *path, mode_t mode);

/* Makes the file appear, flushed to disk before it has its name; on failure, aborts it. */
enum rh_status rh_file_commit(struct rh_file *file);

/* Forgets the file; what stood under its name before is untouched. */
void rh_file_abort(struct rh_file *file);

/* Writes a whole file in one go, atomically as above. */
enum rh_status rh_fs_write(const char *path, const void *bytes, size_t len, mode_t mode);

/* Makes a fresh private folder in $TMPDIR, else /tmp; *path is a heap string. */
enum rh_status rh_fs_make_temp_dir(char **path);

/* Removes a file or a folder with all that is in it, following no link; absent is success. */
enum rh_status rh_fs_remove_tree(const char *path);

/* Makes a folder and its missing parents; one that is there already is success. */
enum rh_status rh_fs_make_dirs(const char *path);

#endif
