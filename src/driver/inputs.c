/* SPDX-License-Identifier: Apache-2.0 */
/* Finding, inspecting and copying the files that a link reads. */
#include "driver/inputs.h"

#include "base/fs.h"
#include "driver/archive.h"
#include "driver/named.h"
#include "driver/objfile.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A search path that begins with "=" or "$SYSROOT" is meant inside the sysroot. */
static const char *place_path(struct rh_ld *ld, const char *path)
{
    const char *rest;
    if (!rh_word_starts(path, "=", &rest) && !rh_word_starts(path, "$SYSROOT", &rest))
        return path;
    return rh_arena_printf(&ld->arena, "%s%s", ld->sysroot ? ld->sysroot : "", rest);
}

static const char *find_in(struct rh_ld *ld, const char *folder, const char *prefix,
                           const char *name, const char *suffix)
{
    char *path = rh_arena_printf(&ld->arena, "%s/%s%s%s", folder, prefix, name, suffix);
    return access(path, F_OK) == 0 ? path : NULL;
}

const char *rh_inputs_find_library(struct rh_ld *ld, const char *value, bool is_static)
{
    rh_vec_each (const char *, given, &ld->library_paths) {
        const char *folder = place_path(ld, *given), *path = NULL;
        if (*value == ':')
            path = find_in(ld, folder, "", value + 1, "");
        else if (!is_static)
            path = find_in(ld, folder, "lib", value, ".so");
        if (!path && *value != ':')
            path = find_in(ld, folder, "lib", value, ".a");
        if (path)
            return path;
    }
    return NULL;
}

static void inspect_archive(struct rh_ld *ld, struct rh_ld_arg *arg)
{
    struct rh_archive archive;
    struct rh_archive_member member;
    bool found, has_native = false;
    arg->is_archive = true;
    if (rh_archive_open(&archive, arg->path) != RH_OK)
        return;
    while (rh_archive_next(&archive, &member, &found) == RH_OK && found) {
        struct rh_objfile object;
        rh_objfile_inspect(&object, member.data, member.len);
        if (rh_objfile_has_bitcode(&object))
            arg->content = RH_LD_BITCODE;
        else
            has_native = true;
        arg->has_broken |= object.kind == RH_OBJFILE_BROKEN;
        ld->has_plain_bitcode |= object.kind == RH_OBJFILE_BITCODE;
        rh_archive_release_member(&member);
    }
    if (arg->content == RH_LD_BITCODE && has_native)
        arg->content = RH_LD_MIXED_ARCHIVE;
    arg->is_native = has_native && arg->content == RH_LD_NATIVE;
    rh_archive_close(&archive);
}

static void inspect_file(struct rh_ld *ld, struct rh_ld_arg *arg)
{
    struct rh_fs_mapping file;
    struct rh_objfile object;
    if (rh_fs_map(arg->path, &file) != RH_OK)
        return;
    rh_objfile_inspect(&object, file.data, file.len);
    rh_fs_unmap(&file);
    if (rh_objfile_has_bitcode(&object))
        arg->content = RH_LD_BITCODE;
    if (object.kind == RH_OBJFILE_FOREIGN && !ld->foreign)
        ld->foreign = arg->path;
    arg->can_hide = object.kind == RH_OBJFILE_FAT;
    arg->is_native = object.kind == RH_OBJFILE_NATIVE;
    arg->has_broken = object.kind == RH_OBJFILE_BROKEN;
    ld->has_plain_bitcode |= object.kind == RH_OBJFILE_BITCODE;
    if (object.kind == RH_OBJFILE_ARCHIVE)
        inspect_archive(ld, arg);
}

static bool is_shared_library(const char *path)
{
    size_t len = strlen(path);
    return len > 3 && strcmp(path + len - 3, ".so") == 0;
}

size_t rh_inputs_inspect(struct rh_ld *ld)
{
    size_t count = 0;
    rh_vec_each (struct rh_ld_arg, arg, &ld->args) {
        if (arg->role == RH_LD_INPUT)
            arg->path = arg->value;
        else if (arg->role == RH_LD_LIBRARY)
            arg->path = rh_inputs_find_library(ld, arg->value, arg->is_static);
        if (!arg->path || is_shared_library(arg->path))
            continue;
        inspect_file(ld, arg);
        count += arg->content != RH_LD_NATIVE;
    }
    return count;
}

/* A path for a copy, with the original's name, which --exclude-libs and messages go by. */
static enum rh_status name_copy(struct rh_ld *ld, const char *folder, const char *step,
                                const struct rh_ld_arg *arg, const char **path)
{
    size_t index = (size_t)(arg - ld->args.data);
    const char *slash = strrchr(arg->path, '/');
    char *place = rh_arena_printf(&ld->arena, "%s/%s-%zu", folder, step, index);
    if (mkdir(place, 0777) != 0 && errno != EEXIST)
        return rh_fail_errno(RH_ERR_IO, "cannot make the folder %s", place);
    *path = rh_arena_printf(&ld->arena, "%s/%s", place, slash ? slash + 1 : arg->path);
    return RH_OK;
}

static enum rh_status write_plainly(const char *path, const struct rh_strbuf *bytes)
{
    FILE *out = fopen(path, "wbe");
    bool good = out && fwrite(bytes->data, bytes->len, 1, out) == 1;
    if (out && fclose(out) != 0)
        good = false;
    return good ? RH_OK : rh_fail_errno(RH_ERR_IO, "cannot write %s", path);
}

static enum rh_status hide_object(const struct rh_ld_arg *arg, const char *path)
{
    struct rh_fs_mapping file;
    enum rh_status status = rh_fs_map(arg->path, &file);
    if (status != RH_OK)
        return status;
    struct rh_objfile object;
    struct rh_strbuf copy = RH_STRBUF_INIT;
    rh_objfile_inspect(&object, file.data, file.len);
    rh_objfile_hide_bitcode(&object, file.data, file.len, &copy);
    status = write_plainly(path, &copy);
    rh_strbuf_release(&copy);
    rh_fs_unmap(&file);
    return status;
}

/* Which members a copy of an archive gets: all, with broken bitcode hidden, or the native ones. */
enum selection { ALL_MEMBERS, NATIVE_MEMBERS };

static void copy_member(struct rh_archive_writer *writer, const struct rh_archive_member *member,
                        enum selection selection)
{
    struct rh_objfile object;
    struct rh_strbuf hidden = RH_STRBUF_INIT;
    rh_objfile_inspect(&object, member->data, member->len);
    if (object.kind == RH_OBJFILE_BROKEN) {
        rh_objfile_hide_bitcode(&object, member->data, member->len, &hidden);
        rh_archive_add(writer, member->name, hidden.data, hidden.len);
    } else if (selection == ALL_MEMBERS || !rh_objfile_has_bitcode(&object)) {
        rh_archive_add(writer, member->name, member->data, member->len);
    }
    rh_strbuf_release(&hidden);
}

static enum rh_status copy_archive(const struct rh_ld_arg *arg, enum selection selection,
                                   const char *path)
{
    struct rh_archive archive;
    struct rh_archive_member member;
    struct rh_archive_writer writer = {0};
    bool found = true;
    enum rh_status status = rh_archive_open(&archive, arg->path);
    if (status != RH_OK)
        return status;
    while (status == RH_OK && found) {
        status = rh_archive_next(&archive, &member, &found);
        if (status != RH_OK || !found)
            break;
        copy_member(&writer, &member, selection);
        rh_archive_release_member(&member);
    }
    rh_archive_close(&archive);
    enum rh_status written = rh_archive_write(&writer, path);
    return status == RH_OK ? written : status;
}

static enum rh_status prepare(struct rh_ld *ld, struct rh_ld_arg *arg, const char *folder)
{
    enum rh_status status = RH_OK;
    if ((arg->has_broken || arg->hidden) && !arg->merge_path) {
        const char *path;
        status = name_copy(ld, folder, "merge", arg, &path);
        if (status == RH_OK)
            status =
                arg->is_archive ? copy_archive(arg, ALL_MEMBERS, path) : hide_object(arg, path);
        if (status == RH_OK)
            arg->merge_path = path;
    }
    if (status == RH_OK && arg->content == RH_LD_MIXED_ARCHIVE && !arg->native_path) {
        const char *path;
        status = name_copy(ld, folder, "native", arg, &path);
        if (status == RH_OK)
            status = copy_archive(arg, NATIVE_MEMBERS, path);
        if (status == RH_OK)
            arg->native_path = path;
    }
    return status;
}

enum rh_status rh_inputs_prepare(struct rh_ld *ld, const char *folder)
{
    enum rh_status status = RH_OK;
    rh_vec_each (struct rh_ld_arg, arg, &ld->args)
        if (status == RH_OK && arg->path)
            status = prepare(ld, arg, folder);
    return status;
}

/* How the names of files begin that every link has, or that order threads only by functions that
 * the runtime stands in front of. */
static const char *const usual[] = {
    "crt",     "Scrt",        "rcrt",        "gcrt",
    "grcrt",   "Mcrt",        "libc.a",      "libc_nonshared.a",
    "libm.a",  "libm-",       "libmvec.",    "libpthread.",
    "libdl.",  "librt.",      "libutil.",    "libgcc.",
    "libgcc_", "libstdc++.a", "libsupc++.a", "libclang_rt.",
};

bool rh_inputs_is_usual(const char *name)
{
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (strncmp(name, usual[i], strlen(usual[i])) == 0)
            return true;
    return false;
}

bool rh_inputs_is_loaded(const char *name)
{
    size_t len = strlen(name);
    return (len > 3 && strcmp(name + len - 3, ".so") == 0) || strstr(name, ".so.");
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether the file brings code without bitcode that no rule of the configuration speaks of. */
static bool is_unseen(const struct rh_ld_arg *arg, const struct rh_wordlist *named)
{
    if (!arg->path || (arg->content == RH_LD_BITCODE && !arg->hidden))
        return false;
    const char *name = file_name(arg->path);
    return !rh_inputs_is_loaded(name) && !rh_inputs_is_usual(name) &&
           (arg->is_archive || !rh_named_cover(named, arg->path));
}

bool rh_inputs_have_native(const struct rh_ld *ld, const struct rh_wordlist *named)
{
    for (size_t i = 0; i < ld->args.len; i++)
        if (is_unseen(&ld->args.data[i], named))
            return true;
    return false;
}

void rh_inputs_list_native(const struct rh_ld *ld, const struct rh_wordlist *named,
                           struct rh_strbuf *out)
{
    enum { LISTED = 4 };
    size_t count = 0;
    for (size_t i = 0; i < ld->args.len; i++) {
        const struct rh_ld_arg *arg = &ld->args.data[i];
        if (arg->is_native && is_unseen(arg, named) && count++ < LISTED)
            rh_strbuf_addf(out, "%s%s", count > 1 ? ", " : "", file_name(arg->path));
    }
    if (count > LISTED)
        rh_strbuf_addf(out, " and %zu more", count - LISTED);
}
