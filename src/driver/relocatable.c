/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ld -r`, after which the result must be a fat object again: lld drops the bitcode of its inputs
 * and GNU ld glues it together unreadably, so lld links the machine code, the bitcode of the very
 * inputs it used is merged, and the result gets the merged bitcode as its section.
 */
#include "driver/link.h"

#include "base/fs.h"
#include "base/log.h"
#include "driver/archive.h"
#include "driver/child.h"
#include "driver/ldsteps.h"
#include "driver/objfile.h"
#include "driver/tools.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The bitcode found so far, in files of its own. */
struct parts {
    struct rh_link *link;
    struct rh_wordlist files;
    const char *without; /* the first input that has none */
};

static enum rh_status add_part(struct parts *parts, const char *name, const void *data, size_t len)
{
    struct rh_objfile object;
    rh_objfile_inspect(&object, data, len);
    if (!rh_objfile_has_bitcode(&object)) {
        if (!parts->without && object.kind != RH_OBJFILE_OTHER && object.kind != RH_OBJFILE_FOREIGN)
            parts->without = rh_arena_strdup(&parts->link->ld.arena, name);
        return RH_OK;
    }
    const char *path =
        rh_arena_printf(&parts->link->ld.arena, "%s/%zu.bc", parts->link->temps, parts->files.len);
    rh_vec_push(&parts->files, path);
    return rh_fs_write(path, (const char *)data + object.bitcode_at, object.bitcode_len, 0666);
}

static enum rh_status add_file(struct parts *parts, const char *path)
{
    struct rh_fs_mapping file;
    enum rh_status status = rh_fs_map(path, &file);
    if (status != RH_OK)
        return status;
    status = add_part(parts, path, file.data, file.len);
    rh_fs_unmap(&file);
    return status;
}

static bool has_file_name(const char *path, const char *name, size_t len)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    return strlen(file) == len && strncmp(file, name, len) == 0;
}

/* Adds the member of an archive; one of several with the same name cannot be told apart. */
static enum rh_status add_member(struct parts *parts, const char *path, const char *name,
                                 size_t len)
{
    struct rh_archive archive;
    struct rh_archive_member member;
    bool found = true;
    size_t matches = 0;
    enum rh_status status = rh_archive_open(&archive, path);
    if (status != RH_OK)
        return status;
    while (status == RH_OK) {
        status = rh_archive_next(&archive, &member, &found);
        if (status != RH_OK || !found)
            break;
        if (has_file_name(member.name, name, len) && matches++ == 0)
            status = add_part(parts, member.name, member.data, member.len);
        rh_archive_release_member(&member);
    }
    rh_archive_close(&archive);
    if (status == RH_OK && matches != 1)
        status = rh_fail(RH_ERR_INPUT, "%s has %zu members '%.*s'", path, matches, (int)len, name);
    return status;
}

/* Adds what lld's --trace names on one line: a file, or a member as ARCHIVE(MEMBER). */
static enum rh_status add_traced(struct parts *parts, const char *line)
{
    size_t len = strlen(line);
    const char *open = strrchr(line, '(');
    if (len == 0)
        return RH_OK;
    if (access(line, F_OK) == 0 || !open || line[len - 1] != ')')
        return add_file(parts, line);
    char *path = rh_arena_strndup(&parts->link->ld.arena, line, (size_t)(open - line));
    return add_member(parts, path, open + 1, len - 2 - (size_t)(open - line));
}

static enum rh_status collect(struct parts *parts, const char *trace)
{
    enum rh_status status = rh_link_make_temps(parts->link);
    char *text = rh_arena_strdup(&parts->link->ld.arena, trace);
    for (char *line; status == RH_OK && (line = strsep(&text, "\n"));)
        status = add_traced(parts, line);
    return status;
}

static enum rh_status merge(struct parts *parts, const char **merged)
{
    struct rh_link *link = parts->link;
    *merged = parts->files.data[0];
    if (parts->files.len == 1)
        return RH_OK;
    *merged = rh_arena_printf(&link->ld.arena, "%s/all.bc", link->temps);
    struct rh_wordlist argv = RH_VEC_INIT;
    rh_vec_push(&argv, rh_link_own_file(link, "racehive-instrument"));
    rh_vec_push(&argv, "--merge");
    rh_vec_push(&argv, rh_arena_printf(&link->ld.arena, "--object=%s", *merged));
    rh_vec_each (const char *, file, &parts->files)
        rh_vec_push(&argv, *file);
    enum rh_status status = rh_link_run(link, &argv);
    rh_vec_free(&argv);
    return status;
}

static enum rh_status embed(struct rh_link *link, const char *bitcode)
{
    char *objcopy;
    enum rh_status status = rh_tools_find(RH_OBJCOPY, &objcopy);
    if (status != RH_OK)
        return status;
    struct rh_wordlist argv = RH_VEC_INIT;
    rh_vec_push(&argv, objcopy);
    rh_vec_push(&argv, rh_arena_printf(&link->ld.arena, "--add-section=.llvm.lto=%s", bitcode));
    rh_vec_push(&argv, "--set-section-type=.llvm.lto=0x6fff4c0c");
    rh_vec_push(&argv, "--set-section-flags=.llvm.lto=exclude");
    rh_vec_push(&argv, link->ld.output);
    status = rh_link_run(link, &argv);
    rh_vec_free(&argv);
    free(objcopy);
    return status;
}

/* Gives the linked object the bitcode of all that went into it. */
static void restore_bitcode(struct rh_link *link, const char *trace)
{
    struct parts parts = {.link = link};
    const char *merged;
    enum rh_status status = collect(&parts, trace);
    if (status == RH_OK && parts.files.len > 0 && parts.without)
        status = rh_fail(RH_ERR_INPUT, "%s has none", parts.without);
    if (status == RH_OK && parts.files.len > 0) {
        status = merge(&parts, &merged);
        if (status == RH_OK)
            status = embed(link, merged);
    }
    if (status != RH_OK && !rh_child_interrupted())
        rh_log_note("%s has no bitcode and will not be instrumented: %s", link->ld.output,
                    rh_error_text());
    rh_vec_free(&parts.files);
}

static bool is_traced_by_user(const struct rh_ld *ld)
{
    rh_vec_each (struct rh_ld_arg, arg, &ld->args)
        if (strcmp(arg->words[0], "-t") == 0 || strcmp(arg->words[0], "--trace") == 0)
            return true;
    return false;
}

enum rh_status rh_link_relocatable(struct rh_link *link)
{
    struct rh_wordlist argv = RH_VEC_INIT;
    rh_ld_make_native(&link->ld, link->lld, RH_LD_LLD, &argv);
    rh_vec_push(&argv, "--trace");
    enum rh_status status = rh_link_run(link, &argv);
    rh_vec_free(&argv);
    if (status != RH_OK)
        return status;
    char *trace = rh_strbuf_detach(&link->out);
    if (is_traced_by_user(&link->ld))
        rh_strbuf_add(&link->out, trace);
    rh_link_show(link);
    restore_bitcode(link, trace);
    free(trace);
    return RH_OK;
}
