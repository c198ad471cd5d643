/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the sidecar of a program by name and by build id, and keeps copies by build id. */
#include "store/sidecar.h"

#include "base/elf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "store/db.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is known of the program whose sidecar is wanted. */
struct program {
    const char *path;
    char *real_path; /* links resolved: what the linker wrote the sidecar beside */
    char *build_id;  /* NULL if it has none */
    bool is_sidecar;
    bool is_instrumented;
};

static void release_program(struct program *program)
{
    free(program->real_path);
    free(program->build_id);
}

static enum rh_status check_kind(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? rh_fail(RH_ERR_NOT_FOUND, "there is no file '%s'", path)
                   : rh_fail_errno(RH_ERR_IO, "cannot read %s", path);
    if (S_ISDIR(info.st_mode))
        return rh_fail(RH_ERR_INPUT, "%s is a directory, not a program", path);
    if (!S_ISREG(info.st_mode))
        return rh_fail(RH_ERR_INPUT, "%s is not a regular file", path);
    return RH_OK;
}

static enum rh_status inspect_program(const char *path, struct program *program)
{
    *program = (struct program){.path = path};
    enum rh_status status = check_kind(path);
    if (status == RH_OK)
        status = rh_db_is_file(path, &program->is_sidecar);
    if (status != RH_OK || program->is_sidecar)
        return status;
    struct rh_elf elf;
    status = rh_elf_open(path, &elf);
    if (status != RH_OK)
        return status;
    program->build_id = rh_elf_build_id(&elf);
    program->is_instrumented = rh_elf_has_section(&elf, RH_NOTE_SECTION);
    program->real_path = realpath(path, NULL);
    rh_elf_close(&elf);
    return RH_OK;
}

/* The path of the copy. The first byte of the id names a folder, so that no folder grows too full.
 */
static enum rh_status path_by_build_id(const char *build_id, char **path)
{
    char *data;
    enum rh_status status = rh_elf_check_build_id(build_id);
    if (status == RH_OK)
        status = rh_path_user_data(&data);
    if (status != RH_OK)
        return status;
    *path = rh_format("%s/by-build-id/%.2s/%s%s", data, build_id, build_id + 2, RH_SIDECAR_SUFFIX);
    free(data);
    return RH_OK;
}

/* RH_OK if the file is a sidecar of this very build of the program. */
static enum rh_status check_sidecar(const struct program *program, const char *path)
{
    struct rh_sidecar *sidecar;
    enum rh_status status = rh_sidecar_open(path, &sidecar);
    if (status != RH_OK)
        return status;
    const char *build_id = rh_sidecar_get_meta(sidecar, RH_SIDECAR_META_BUILD_ID);
    if (!build_id)
        build_id = "none";
    /* A program without a build id is matched by its name alone. */
    if (program->build_id && strcmp(program->build_id, build_id) != 0)
        status = rh_fail(RH_ERR_INPUT,
                         "%s belongs to another build of %s (build id %s, the program's is %s): "
                         "build the program again, or name the right file with --symbols=FILE",
                         path, program->path, build_id, program->build_id);
    rh_sidecar_close(sidecar);
    return status;
}

/* Tries one path. If there is a file that cannot be used, the first reason is kept as *trouble. */
static enum rh_status try_place(const struct program *program, char *place, char **trouble,
                                char **path)
{
    enum rh_status status = check_sidecar(program, place);
    if (status == RH_OK) {
        *path = place;
        return RH_OK;
    }
    if (status != RH_ERR_NOT_FOUND && !*trouble)
        *trouble = rh_strdup(rh_error_text());
    free(place);
    return status;
}

static enum rh_status try_copy(const struct program *program, char **trouble, char **path)
{
    char *place = NULL;
    if (!program->build_id || path_by_build_id(program->build_id, &place) != RH_OK)
        return RH_ERR_NOT_FOUND;
    return try_place(program, place, trouble, path);
}

static enum rh_status fail_missing(const struct program *program)
{
    if (!program->is_instrumented)
        return rh_fail(RH_ERR_INPUT,
                       "%s was not built with racehive-cc: build it with CC=racehive-cc "
                       "CXX=racehive-c++",
                       program->path);
    return rh_fail(RH_ERR_NOT_FOUND,
                   "%s was built with racehive-cc, but its %s%s is neither beside it nor in the "
                   "user's data folder: build the program again, or name the file with "
                   "--symbols=FILE",
                   program->path, program->path, RH_SIDECAR_SUFFIX);
}

static enum rh_status find_sidecar(const struct program *program, char **path)
{
    char *trouble = NULL;
    enum rh_status status =
        try_place(program, rh_format("%s%s", program->path, RH_SIDECAR_SUFFIX), &trouble, path);
    if (status != RH_OK && program->real_path)
        status = try_place(program, rh_format("%s%s", program->real_path, RH_SIDECAR_SUFFIX),
                           &trouble, path);
    if (status != RH_OK)
        status = try_copy(program, &trouble, path);
    if (status != RH_OK)
        status = trouble && program->is_instrumented ? rh_fail(RH_ERR_INPUT, "%s", trouble)
                                                     : fail_missing(program);
    free(trouble);
    return status;
}

enum rh_status rh_sidecar_find(const char *program_path, const char *symbols, char **path)
{
    struct program program;
    enum rh_status status = inspect_program(program_path, &program);
    if (status == RH_OK && symbols) {
        status = check_sidecar(&program, symbols);
        if (status == RH_OK)
            *path = rh_strdup(symbols);
    } else if (status == RH_OK && program.is_sidecar) {
        *path = rh_strdup(program_path);
    } else if (status == RH_OK) {
        status = find_sidecar(&program, path);
    }
    release_program(&program);
    return status;
}

enum rh_status rh_sidecar_find_build(const char *build_id, char **path)
{
    char *copy;
    enum rh_status status = path_by_build_id(build_id, &copy);
    if (status != RH_OK)
        return status;
    if (access(copy, R_OK) == 0) {
        *path = copy;
        return RH_OK;
    }
    status = rh_fail(RH_ERR_NOT_FOUND, "there is no file '%s'", copy);
    free(copy);
    return status;
}

static bool has_build_id(const char *path, const char *build_id)
{
    struct rh_elf elf;
    if (rh_elf_open(path, &elf) != RH_OK)
        return false;
    char *id = rh_elf_build_id(&elf);
    bool is_same = id && strcmp(id, build_id) == 0;
    free(id);
    rh_elf_close(&elf);
    return is_same;
}

enum rh_status rh_sidecar_find_loaded(const char *path, const char *build_id, char **sidecar)
{
    if (*path && has_build_id(path, build_id) && rh_sidecar_find(path, NULL, sidecar) == RH_OK)
        return RH_OK;
    if (rh_sidecar_find_build(build_id, sidecar) == RH_OK)
        return RH_OK;
    return rh_fail(RH_ERR_NOT_FOUND,
                   "its .racehive file is neither beside it nor in the user's data folder");
}

enum rh_status rh_sidecar_publish(const char *path, const char *build_id)
{
    char *copy = NULL;
    enum rh_status status = path_by_build_id(build_id, &copy);
    if (status != RH_OK)
        return status;
    char *folder = rh_path_dirname(copy);
    struct rh_fs_mapping file;
    status = rh_fs_make_dirs(folder);
    if (status == RH_OK)
        status = rh_fs_map(path, &file);
    if (status == RH_OK) {
        status = rh_fs_write(copy, file.data, file.len, 0666);
        rh_fs_unmap(&file);
    }
    free(folder);
    free(copy);
    return status;
}
