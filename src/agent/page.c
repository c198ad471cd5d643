/* SPDX-License-Identifier: Apache-2.0 */
/* Makes control pages, and removes those that were left behind: see page.h. */
#include "agent/page.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Memory that is a file: /dev/shm where there is one, so that nothing is written to a disk. */
static const char shared_memory[] = "/dev/shm";
static const char prefix[] = "racehive-run.";

static int make_file(char **path)
{
    const char *folders[] = {shared_memory, getenv("TMPDIR"), "/tmp"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        struct rh_strbuf name = RH_STRBUF_INIT;
        if (!folders[i])
            continue;
        rh_strbuf_addf(&name, "%s/%sXXXXXX", folders[i], prefix);
        *path = rh_strbuf_detach(&name);
        int fd = mkostemp(*path, O_CLOEXEC);
        if (fd >= 0)
            return fd;
        free(*path);
        *path = NULL;
    }
    return -1;
}

/* Between its making and its lock, another one may take the file for a left one. */
static int make_locked_file(char **path)
{
    for (;;) {
        struct stat info;
        int fd = make_file(path);
        if (fd < 0)
            return -1;
        if (flock(fd, LOCK_EX) != 0 || fstat(fd, &info) != 0 || info.st_nlink > 0)
            return fd;
        close(fd);
        free(*path);
        *path = NULL;
    }
}

static void remove_if_left(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(folder, name, 0);
    close(fd);
}

static void remove_left_ones(void)
{
    DIR *folder = opendir(shared_memory);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0)
            remove_if_left(dirfd(folder), entry->d_name);
    if (folder)
        closedir(folder);
}

enum rh_status rh_page_make(struct rh_page *page)
{
    static bool looked; /* once is enough */
    if (!looked)
        remove_left_ones();
    looked = true;
    *page = (struct rh_page){0};
    page->fd = make_locked_file(&page->path);
    if (page->fd < 0)
        return rh_fail_errno(RH_ERR_IO, "cannot make a control page");
    if (posix_fallocate(page->fd, 0, offsetof(struct rh_shared, findings)) != 0 ||
        ftruncate(page->fd, sizeof *page->shared) != 0)
        return rh_fail(RH_ERR_IO, "no room for the control page %s", page->path);
    void *shared =
        mmap(NULL, sizeof *page->shared, PROT_READ | PROT_WRITE, MAP_SHARED, page->fd, 0);
    if (shared == MAP_FAILED)
        return rh_fail_errno(RH_ERR_IO, "cannot map the control page %s", page->path);
    page->shared = shared;
    return RH_OK;
}

enum rh_status rh_page_open(const char *path, struct rh_page *page)
{
    struct stat info;
    *page = (struct rh_page){.fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
    if (page->fd < 0)
        return rh_fail_errno(RH_ERR_IO, "cannot open the control page %s", path);
    page->path = rh_strdup(path);
    if (fstat(page->fd, &info) == 0 && info.st_size == (off_t)sizeof *page->shared) {
        void *shared =
            mmap(NULL, sizeof *page->shared, PROT_READ | PROT_WRITE, MAP_SHARED, page->fd, 0);
        page->shared = shared == MAP_FAILED ? NULL : shared;
    }
    if (page->shared && page->shared->magic == RH_SHARED_MAGIC &&
        page->shared->version == RH_SHARED_VERSION &&
        memchr(page->shared->program, '\0', sizeof page->shared->program))
        return RH_OK;
    rh_page_release(page);
    return rh_fail(RH_ERR_INPUT, "%s is no control page of this version", path);
}

void rh_page_release(struct rh_page *page)
{
    if (page->shared)
        munmap(page->shared, sizeof *page->shared);
    if (page->path) {
        unlink(page->path);
        close(page->fd);
    }
    free(page->path);
    *page = (struct rh_page){0};
}
