/* SPDX-License-Identifier: Apache-2.0 */
/* Files and folders: whole-file reading, atomic writing, temporary folders. */
#define _GNU_SOURCE 1
#include "base/fs.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static enum rh_status fail_path(const char *verb, const char *path)
{
    enum rh_status status = errno == ENOENT ? RH_ERR_NOT_FOUND : RH_ERR_IO;
    return rh_fail_errno(status, "cannot %s %s", verb, path);
}

static enum rh_status open_to_read(const char *path, int *fd, struct stat *info)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return fail_path("read", path);
    if (fstat(*fd, info) == 0 && !S_ISDIR(info->st_mode))
        return RH_OK;
    if (S_ISDIR(info->st_mode))
        errno = EISDIR;
    enum rh_status status = fail_path("read", path);
    close(*fd);
    return status;
}

enum rh_status rh_fs_read(const char *path, struct rh_strbuf *out)
{
    struct stat info = {0};
    int fd;
    enum rh_status status = open_to_read(path, &fd, &info);
    if (status != RH_OK)
        return status;
    size_t before = out->len;
    /* One byte more than the file has lets the last read meet the end without growing. */
    rh_strbuf_reserve(out, S_ISREG(info.st_mode) ? (size_t)info.st_size + 1 : 4096);
    for (;;) {
        if (out->cap - out->len < 2)
            rh_strbuf_reserve(out, 4096);
        ssize_t n = read(fd, out->data + out->len, out->cap - out->len - 1);
        if (n == 0)
            break;
        if (n > 0) {
            out->len += (size_t)n;
        } else if (errno != EINTR) {
            status = fail_path("read", path);
            out->len = before;
            break;
        }
    }
    out->data[out->len] = '\0';
    close(fd);
    return status;
}

enum rh_status rh_fs_map(const char *path, struct rh_fs_mapping *mapping)
{
    struct stat info = {0};
    int fd;
    enum rh_status status = open_to_read(path, &fd, &info);
    if (status != RH_OK)
        return status;
    *mapping = (struct rh_fs_mapping){.data = "", .len = (size_t)info.st_size};
    if (!S_ISREG(info.st_mode)) {
        status = rh_fail(RH_ERR_INPUT, "cannot map %s: not a regular file", path);
    } else if (mapping->len > 0) {
        mapping->data = mmap(NULL, mapping->len, PROT_READ, MAP_PRIVATE, fd, 0);
        if (mapping->data == MAP_FAILED)
            status = fail_path("map", path);
    }
    close(fd);
    if (status != RH_OK)
        *mapping = (struct rh_fs_mapping){0};
    return status;
}

void rh_fs_unmap(struct rh_fs_mapping *mapping)
{
    if (mapping->len > 0)
        munmap((void *)(uintptr_t)mapping->data, mapping->len);
    *mapping = (struct rh_fs_mapping){0};
}

/* stdio forgets why an early write failed; this sits below it and remembers. */
static ssize_t write_cookie(void *cookie, const char *bytes, size_t len)
{
    struct rh_file *file = cookie;
    for (size_t done = 0; done < len;) {
        ssize_t n = write(file->fd, bytes + done, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            if (!file->error)
                file->error = errno;
            return 0;
        }
        done += (size_t)n;
    }
    return (ssize_t)len;
}

/* Names that mean an open descriptor: opening them anew would lose its position. */
static int find_own_descriptor(const char *path)
{
    static const struct {
        const char *name;
        int fd;
    } names[] = {{"/dev/stdout", STDOUT_FILENO}, {"/dev/stderr", STDERR_FILENO}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(path, names[i].name) == 0)
            return names[i].fd;
    return -1;
}

static int open_temp(struct rh_file *file, mode_t mode)
{
    static atomic_uint counter;
    char *folder = rh_path_dirname(file->path);
    do {
        free(file->temp_path);
        file->temp_path = rh_format("%s/.racehive-%ld-%u.tmp", folder, (long)getpid(),
                                    atomic_fetch_add(&counter, 1));
        file->fd = open(file->temp_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    } while (file->fd < 0 && errno == EEXIST);
    free(folder);
    return file->fd;
}

/* Opens the descriptor to write to and decides between the temporary file and the thing itself. */
static int open_target(struct rh_file *file, mode_t mode)
{
    int own = find_own_descriptor(file->path);
    if (own >= 0)
        return file->fd = fcntl(own, F_DUPFD_CLOEXEC, 0);
    struct stat info;
    if (stat(file->path, &info) != 0)
        return open_temp(file, mode);
    if (!S_ISREG(info.st_mode))
        return file->fd = open(file->path, O_WRONLY | O_CLOEXEC);
    char *resolved = realpath(file->path, NULL);
    if (!resolved)
        return -1;
    free(file->path);
    file->path = resolved;
    return open_temp(file, mode);
}

static void forget_file(struct rh_file *file)
{
    free(file->temp_path);
    free(file->path);
    *file = (struct rh_file){.fd = -1};
}

enum rh_status rh_file_begin(struct rh_file *file, const char *path, mode_t mode)
{
    *file = (struct rh_file){.path = rh_strdup(path), .fd = -1};
    cookie_io_functions_t io = {.write = write_cookie};
    if (open_target(file, mode) >= 0)
        file->stream = fopencookie(file, "w", io);
    if (file->stream)
        return RH_OK;
    enum rh_status status = fail_path("write", path);
    if (file->fd >= 0) {
        close(file->fd);
        if (file->temp_path)
            unlink(file->temp_path);
    }
    forget_file(file);
    return status;
}

/* 0 once every byte is on disk, or with the kernel where there is no file behind; else an errno. */
static int settle_contents(struct rh_file *file)
{
    if (fclose(file->stream) != 0 && !file->error)
        file->error = errno ? errno : EIO;
    file->stream = NULL;
    if (!file->error && file->temp_path && fsync(file->fd) != 0)
        file->error = errno;
    if (close(file->fd) != 0 && !file->error)
        file->error = errno;
    return file->error;
}

enum rh_status rh_file_commit(struct rh_file *file)
{
    enum rh_status status = RH_OK;
    int error = settle_contents(file);
    if (!error && file->temp_path && rename(file->temp_path, file->path) != 0)
        error = errno;
    if (error) {
        errno = error;
        status = rh_fail_errno(RH_ERR_IO, "cannot write %s", file->path);
        if (file->temp_path)
            unlink(file->temp_path);
    }
    forget_file(file);
    return status;
}

void rh_file_abort(struct rh_file *file)
{
    fclose(file->stream);
    close(file->fd);
    if (file->temp_path)
        unlink(file->temp_path);
    forget_file(file);
}

enum rh_status rh_fs_write(const char *path, const void *bytes, size_t len, mode_t mode)
{
    struct rh_file file;
    enum rh_status status = rh_file_begin(&file, path, mode);
    if (status != RH_OK)
        return status;
    fwrite(bytes, 1, len, file.stream);
    return rh_file_commit(&file);
}

enum rh_status rh_fs_make_temp_dir(char **path)
{
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder)
        folder = "/tmp";
    char *name = rh_path_join(folder, "racehive-XXXXXX");
    if (!mkdtemp(name)) {
        enum rh_status status = fail_path("make a temporary folder in", folder);
        free(name);
        return status;
    }
    *path = name;
    return RH_OK;
}

static int remove_at(int folder, const char *name);

static int empty_folder(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return -1;
    }
    int failed = 0;
    for (struct dirent *entry; !failed && (errno = 0, entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            failed = remove_at(fd, entry->d_name);
    int saved_errno = errno;
    closedir(dir);
    errno = saved_errno;
    return failed || saved_errno ? -1 : 0;
}

static int remove_at(int folder, const char *name)
{
    if (unlinkat(folder, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR)
        return -1;
    if (empty_folder(folder, name) != 0)
        return -1;
    return unlinkat(folder, name, AT_REMOVEDIR);
}

enum rh_status rh_fs_remove_tree(const char *path)
{
    return remove_at(AT_FDCWD, path) == 0 ? RH_OK : fail_path("remove", path);
}

/* 0 if the folder is there in the end, whoever made it; else -1 and errno. */
static int make_folder(const char *path)
{
    if (mkdir(path, 0777) == 0)
        return 0;
    int error = errno;
    struct stat info;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return 0;
        error = ENOTDIR;
    }
    errno = error;
    return -1;
}

enum rh_status rh_fs_make_dirs(const char *path)
{
    char *partial = rh_strdup(path);
    char *at = partial;
    enum rh_status status = RH_OK;
    do {
        at += strspn(at, "/");
        at += strcspn(at, "/");
        char cut = *at;
        *at = '\0';
        if (make_folder(partial) != 0)
            status = fail_path("make the folder", partial);
        *at = cut;
    } while (status == RH_OK && *at);
    free(partial);
    return status;
}
