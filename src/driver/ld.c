/* SPDX-License-Identifier: Apache-2.0 */
/*
 * racehive-ld: the linker that clang calls for racehive-cc. It links the program with its bitcode
 * instrumented; where that cannot be, it links the program as plain clang would have and says so.
 * A build that plain clang passes never fails here.
 */
#include "base/fs.h"
#include "base/log.h"
#include "driver/child.h"
#include "driver/inputs.h"
#include "driver/link.h"
#include "driver/named.h"
#include "driver/tools.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Becomes lld, for calls that are none of our business; returns only on failure. */
static enum rh_status become_lld(char *lld, char **argv)
{
    argv[0] = lld;
    execv(lld, argv);
    return rh_fail_errno(RH_ERR_IO, "cannot run %s", lld);
}

/* A device has no place for a sidecar, and is where links go that nobody wants to keep. */
static bool is_special_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

/* Why a link is left alone though it might have bitcode, or NULL. */
static const char *find_obstacle(const struct rh_ld *ld)
{
    if (strcmp(ld->emulation, "elf_x86_64") != 0)
        return "it is for another machine";
    if (ld->emit)
        return "it emits something else than a program";
    if (rh_ld_find_sanitizer(ld))
        return "a sanitizer's runtime is linked";
    if (!ld->shared && !ld->relocatable && !rh_ld_has_libc(ld))
        return "it is linked without the C library";
    if (is_special_file(ld->output))
        return "its output is not a regular file";
    return NULL;
}

/* Links natively; what the linker says is shown, and an old sidecar goes. */
static int link_natively(struct rh_link *link)
{
    enum rh_status status = rh_link_native(link);
    unlink(link->sidecar);
    rh_link_show(link);
    if (status != RH_OK && link->err.len == 0)
        rh_log_error("%s", rh_error_text());
    return status == RH_OK ? 0 : link->status;
}

/* Objects whose bitcode was made unreadable, which `ld -r` does to fat objects. */
static void say_what_is_broken(const struct rh_ld *ld)
{
    rh_vec_each (struct rh_ld_arg, arg, &ld->args)
        if (arg->has_broken)
            rh_log_note("%s is linked without instrumentation: its bitcode cannot be read",
                        arg->path);
}

/* Objects that somebody else's compiler made, or an assembler: races in them cannot be found. */
static void say_what_is_native(struct rh_link *link, bool is_instrumented)
{
    struct rh_wordlist named = RH_VEC_INIT;
    struct rh_strbuf names = RH_STRBUF_INIT;
    rh_named_read(&named, &link->ld.arena, link->settings.config);
    rh_inputs_list_native(&link->ld, &named, &names);
    if (is_instrumented && names.len > 0)
        rh_log_note("linked without instrumentation because it has no bitcode: %s",
                    rh_strbuf_text(&names));
    else if (names.len > 0)
        rh_log_note("%s is not instrumented: its objects have no bitcode, compile them with "
                    "racehive-cc: %s",
                    link->ld.output, rh_strbuf_text(&names));
    rh_strbuf_release(&names);
    rh_vec_free(&named);
}

/*
 * The program could not be linked with all its bitcode. If it can be linked at all, one more
 * attempt leaves out the objects that define symbols in assembly, which bitcode cannot tell of.
 */
static int link_without_some(struct rh_link *link)
{
    const char *reason = link->reason;
    struct rh_strbuf names = RH_STRBUF_INIT;
    int status = link_natively(link);
    if (status != 0 || rh_child_interrupted())
        return status;
    rh_link_hide_assembly(link, &names);
    enum rh_link_end end = names.len > 0 ? rh_link_instrumented(link) : RH_LINK_FAILED;
    bool interrupted = rh_child_interrupted() != 0;
    if (link->spoiled && !interrupted)
        status = link_natively(link);
    if (end == RH_LINK_DONE)
        rh_log_note("linked without instrumentation because of file-scope assembly: %s",
                    rh_strbuf_text(&names));
    else if (status == 0 && !interrupted)
        rh_log_warn("%s is not instrumented: %s", link->ld.output, reason);
    rh_strbuf_release(&names);
    return status;
}

/* Nothing of it could be instrumented. */
static int link_without_any(struct rh_link *link)
{
    int status = link_natively(link);
    if (status == 0 && !rh_child_interrupted())
        say_what_is_native(link, false);
    return status;
}

/* The link of a program or library that may have bitcode. */
static int link_instrumented(struct rh_link *link)
{
    enum rh_link_end end = rh_link_instrumented(link);
    if (end == RH_LINK_DONE) {
        rh_link_show(link);
        say_what_is_broken(&link->ld);
        say_what_is_native(link, true);
        return 0;
    }
    if (rh_child_interrupted())
        return 1;
    if (end != RH_LINK_NOTHING)
        return link_without_some(link);
    rh_log_step("%s is not instrumented: no input with bitcode was needed", link->ld.output);
    return link_without_any(link);
}

static int link_anything(struct rh_link *link)
{
    bool has_bitcode = rh_inputs_inspect(&link->ld) > 0;
    const char *obstacle = find_obstacle(&link->ld);
    bool is_native = !has_bitcode && !obstacle && !link->ld.relocatable && !link->ld.foreign;
    if (!has_bitcode)
        obstacle = "no input has bitcode";
    if (link->ld.foreign)
        rh_log_note(
            "%s is not instrumented: %s is not for x86-64, the one processor that Racehive knows",
            link->ld.output, link->ld.foreign);
    else if (obstacle)
        rh_log_step("%s is not instrumented: %s", link->ld.output, obstacle);
    else if (!link->ld.relocatable)
        return link_instrumented(link);
    else if (rh_link_relocatable(link) == RH_OK)
        return 0;
    if (rh_child_interrupted())
        return 1;
    return is_native ? link_without_any(link) : link_natively(link);
}

static void clean_up(struct rh_link *link)
{
    if (link->temps && !link->settings.keep_temps)
        rh_fs_remove_tree(link->temps);
    /* A program and its sidecar are there together or not at all. */
    if (rh_child_interrupted() && !link->done)
        unlink(link->sidecar);
    if (link->spoiled)
        unlink(link->ld.output);
    rh_strbuf_release(&link->out);
    rh_strbuf_release(&link->err);
    rh_ld_release(&link->ld);
    free(link->temps);
    free(link->lld);
    free(link->folder);
}

static enum rh_status run(struct rh_link *link, char **argv, int *exit_status)
{
    enum rh_status status = rh_settings_read_environment(&link->settings);
    if (status == RH_OK)
        status = rh_tools_find_prefix(0, &link->folder);
    if (status != RH_OK)
        return status;
    /* Without lld, its name makes the first step fail, and the link goes on without it. */
    if (rh_tools_find(RH_LLD, &link->lld) != RH_OK)
        link->lld = rh_path_basename(RH_LLD);
    rh_log_set_verbose(link->settings.verbose);
    if (link->settings.profile == RH_PROFILE_OFF || link->ld.query || !link->ld.has_input)
        return become_lld(link->lld, argv);
    link->sidecar = rh_arena_printf(&link->ld.arena, "%s.racehive", link->ld.output);
    /* A tool of LLVM that crashes would leave temporary files of its symbolizer. */
    setenv("LLVM_DISABLE_SYMBOLIZATION", "1", 1);
    rh_child_guard();
    *exit_status = link_anything(link);
    return RH_OK;
}

int main(int argc, char **argv)
{
    struct rh_link link = {0};
    int exit_status = 0;
    const char *const *words = (const char *const *)(void *)(argv + (argc > 0));
    rh_ld_parse(&link.ld, argc > 0 ? (size_t)argc - 1 : 0, words);
    enum rh_status status = run(&link, argv, &exit_status);
    if (status != RH_OK) {
        rh_log_error("%s", rh_error_text());
        exit_status = rh_exit_status(status);
    }
    clean_up(&link);
    rh_child_end_by_signal();
    return exit_status;
}
