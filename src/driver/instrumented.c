/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link with instrumented code: lld merges all bitcode, racehive-instrument makes an object of
 * it, lld links that with everything else.
 *
 * racehive-instrument is told the build id when the program is linked, and until then prepares
 * PROG.racehive beside the linker; a pipe that closes without a build id tells it to forget that.
 */
#include "driver/link.h"

#include "base/elf.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/ticker.h"
#include "driver/child.h"
#include "driver/inputs.h"
#include "driver/ldsteps.h"
#include "driver/named.h"
#include "driver/outside.h"
#include "driver/wraps.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One attempt. */
struct attempt {
    struct rh_link *link;
    const char *merged; /* bitcode in temps */
    struct rh_ld_extras extras;
    struct rh_wordlist wrappable, wraps; /* in a static program: may be wrapped, will be */
    struct rh_wordlist named;            /* functions that the configuration names */
    struct rh_child instrument;
};

static enum rh_status read_wrappable(struct attempt *attempt)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    enum rh_status status = rh_fs_read(rh_link_own_file(attempt->link, "wrapped-symbols"), &text);
    if (status == RH_OK)
        rh_wordlist_split(&attempt->wrappable, &attempt->link->ld.arena, rh_strbuf_text(&text));
    rh_strbuf_release(&text);
    attempt->extras.traces = &attempt->wrappable;
    return status;
}

static enum rh_status choose_extras(struct attempt *attempt)
{
    struct rh_link *link = attempt->link;
    attempt->extras =
        (struct rh_ld_extras){.glue = rh_link_own_file(link, "glue.o"), .named = &attempt->named};
    rh_named_read(&attempt->named, &link->ld.arena, link->settings.config);
    if (link->ld.shared)
        return RH_OK;
    bool is_static = rh_ld_is_static(&link->ld);
    attempt->extras.runtime = rh_link_own_file(link, is_static ? "rt_static.o" : "rt.o");
    return is_static ? read_wrappable(attempt) : RH_OK;
}

static enum rh_status merge(struct attempt *attempt)
{
    struct rh_wordlist argv = RH_VEC_INIT;
    struct rh_link *link = attempt->link;
    rh_ld_make_merge(&link->ld, link->lld, &attempt->extras, attempt->merged, &argv);
    enum rh_status status = rh_link_run(link, &argv);
    rh_vec_free(&argv);
    if (status != RH_OK)
        return rh_fail_prefix(status, "its bitcode cannot be merged");
    rh_wraps_choose(&attempt->wrappable, rh_strbuf_text(&link->out), &attempt->wraps);
    attempt->extras.traces = NULL;
    attempt->extras.wraps = &attempt->wraps;
    return RH_OK;
}

static void add_instrument_words(struct attempt *attempt, struct rh_wordlist *argv)
{
    struct rh_link *link = attempt->link;
    struct rh_ld *ld = &link->ld;
    struct rh_arena *arena = &ld->arena;
    rh_vec_push(argv, rh_link_own_file(link, "racehive-instrument"));
    rh_vec_push(argv, rh_arena_printf(arena, "--input=%s", attempt->merged));
    rh_vec_push(argv, rh_arena_printf(arena, "--object=%s", attempt->extras.program));
    rh_vec_push(argv, rh_arena_printf(arena, "--sidecar=%s", link->sidecar));
    rh_vec_push(argv, rh_arena_printf(arena, "--program=%s", ld->output));
    rh_vec_push(argv, ld->shared ? "--type=shared" : "--type=exe");
    rh_vec_push(argv, ld->shared || ld->pie ? "--pic=1" : "--pic=0");
    rh_vec_push(argv, rh_arena_printf(arena, "--opt=%s", ld->lto_level));
    if (ld->cpu)
        rh_vec_push(argv, rh_arena_printf(arena, "--cpu=%s", ld->cpu));
    rh_vec_push(argv, rh_arena_printf(arena, "--profile=%s", rh_settings_profile(&link->settings)));
    rh_vec_push(argv, rh_arena_printf(arena, "--keys=%s", link->settings.keys));
    rh_vec_push(argv, rh_arena_printf(arena, "--sites=%s", link->settings.sites));
    rh_vec_push(argv, rh_arena_printf(arena, "--escape=%s", link->settings.escape));
    if (link->settings.analysis_seconds)
        rh_vec_push(
            argv, rh_arena_printf(arena, "--analysis-seconds=%s", link->settings.analysis_seconds));
    if (rh_inputs_have_native(ld, &attempt->named))
        rh_vec_push(argv, "--has-native");
    if (!ld->shared && !rh_ld_is_static(ld))
        rh_vec_push(argv, "--has-runtime");
    const char *starter = rh_outside_starter(ld);
    if (starter)
        rh_vec_push(argv, rh_arena_printf(arena, "--starter=%s", starter));
    const char *keyed = rh_outside_keyed(ld);
    if (keyed)
        rh_vec_push(argv, rh_arena_printf(arena, "--keyed=%s", keyed));
    if (link->settings.config)
        rh_vec_push(argv, rh_arena_printf(arena, "--config=%s", link->settings.config));
    if (link->settings.verbose)
        rh_vec_push(argv, "--verbose");
}

/* Waits for the end of racehive-instrument; what it said is shown if all went well. */
static enum rh_status end_instrument(struct attempt *attempt, bool show)
{
    struct rh_strbuf out = RH_STRBUF_INIT, err = RH_STRBUF_INIT;
    struct rh_child_end end;
    enum rh_status status = rh_child_wait(&attempt->instrument, &end, &out, &err);
    if (status == RH_OK)
        status = rh_child_check(&end, "racehive-instrument");
    if (status == RH_OK && show)
        rh_strbuf_addn(&attempt->link->err, rh_strbuf_text(&err), err.len);
    const char *error = rh_link_first_error(attempt->link, rh_strbuf_text(&err));
    if (status != RH_OK && *error)
        status = rh_fail(status, "%s (%s)", rh_error_text(), error);
    rh_strbuf_release(&out);
    rh_strbuf_release(&err);
    return status;
}

/* The next line that is more than word of what goes on; NULL at the end. */
static const char *read_answer(struct attempt *attempt)
{
    static const char doing[] = "doing ";
    const char *said = NULL;
    struct rh_strbuf line = RH_STRBUF_INIT;
    while (rh_child_read_line(&attempt->instrument, &line) == RH_OK) {
        said = rh_arena_strdup(&attempt->link->ld.arena, rh_strbuf_text(&line));
        if (strncmp(said, doing, sizeof doing - 1) != 0)
            break;
        rh_ticker_say(said + sizeof doing - 1);
        said = NULL;
        rh_strbuf_reset(&line);
    }
    rh_strbuf_release(&line);
    return said;
}

/* Waits for the line that tells of the object. */
static enum rh_status await_object(struct attempt *attempt)
{
    const char *said = read_answer(attempt);
    if (said && strcmp(said, "object") == 0) {
        rh_child_spare(&attempt->instrument);
        return RH_OK;
    }
    enum rh_status end = end_instrument(attempt, false);
    if (said)
        return rh_fail(RH_ERR_INPUT, "racehive-instrument said '%s'", said);
    return end != RH_OK ? end : rh_fail(RH_ERR_INPUT, "racehive-instrument made no object");
}

static enum rh_status instrument_once(struct attempt *attempt)
{
    struct rh_wordlist argv = RH_VEC_INIT;
    add_instrument_words(attempt, &argv);
    rh_link_log(&argv);
    enum rh_status status = rh_child_start(&attempt->instrument, &argv, RH_CHILD_TALK);
    rh_vec_free(&argv);
    return status == RH_OK ? await_object(attempt) : status;
}

/* What has gone wrong may lie in the keys of pointer stores, which caper alone needs. */
static enum rh_status instrument(struct attempt *attempt)
{
    struct rh_link *link = attempt->link;
    enum rh_status status = instrument_once(attempt);
    if (status == RH_OK || strcmp(link->settings.escape, "off") == 0)
        return status;
    char *why = rh_strdup(rh_error_text());
    link->settings.escape = "off";
    if (instrument_once(attempt) == RH_OK) {
        rh_log_warn("%s: pointer stores have no keys, so caper cannot run on it (%s)",
                    link->ld.output, why);
        status = RH_OK;
    } else {
        status = rh_fail(status, "%s", why);
    }
    free(why);
    return status;
}

static enum rh_status link_final(struct attempt *attempt)
{
    struct rh_wordlist argv = RH_VEC_INIT;
    struct rh_link *link = attempt->link;
    rh_ticker_say("linking");
    rh_ld_make_final(&link->ld, link->lld, &attempt->extras, &argv);
    enum rh_status status = rh_link_run(link, &argv);
    rh_vec_free(&argv);
    return rh_fail_prefix(status, "the instrumented code cannot be linked");
}

static enum rh_status send_build_id(struct attempt *attempt)
{
    struct rh_elf elf;
    enum rh_status status = rh_elf_open(attempt->link->ld.output, &elf);
    if (status != RH_OK)
        return status;
    char *build_id = rh_elf_build_id(&elf);
    char *line = rh_format("build-id %s\n", build_id ? build_id : "-");
    status = rh_child_write(&attempt->instrument, line);
    free(line);
    free(build_id);
    rh_elf_close(&elf);
    return status;
}

/* Records why the attempt failed, before anything else fails. */
static enum rh_link_end give_up(struct attempt *attempt)
{
    attempt->link->reason = rh_arena_strdup(&attempt->link->ld.arena, rh_error_text());
    return RH_LINK_FAILED;
}

/* From the merged module to the program and its sidecar. */
static enum rh_link_end build_from_merged(struct attempt *attempt)
{
    struct rh_link *link = attempt->link;
    if (instrument(attempt) != RH_OK)
        return give_up(attempt);
    enum rh_status status = link_final(attempt);
    link->spoiled |= status == RH_OK;
    if (status == RH_OK)
        status = send_build_id(attempt);
    if (status != RH_OK) {
        give_up(attempt);
        end_instrument(attempt, false);
        return RH_LINK_FAILED;
    }
    if (end_instrument(attempt, true) != RH_OK)
        return give_up(attempt);
    link->spoiled = false;
    link->done = true;
    return RH_LINK_DONE;
}

static enum rh_status prepare(struct attempt *attempt)
{
    struct rh_link *link = attempt->link;
    enum rh_status status = rh_link_make_temps(link);
    if (status == RH_OK)
        status = rh_inputs_prepare(&link->ld, link->temps);
    if (status == RH_OK)
        status = choose_extras(attempt);
    if (status != RH_OK)
        return status;
    attempt->merged = rh_arena_printf(&link->ld.arena, "%s/merged.bc", link->temps);
    unlink(attempt->merged);
    return RH_OK;
}

enum rh_link_end rh_link_instrumented(struct rh_link *link)
{
    struct attempt attempt = {.link = link};
    enum rh_link_end end = RH_LINK_NOTHING;
    rh_ticker_begin(link->ld.output);
    rh_ticker_say("merging");
    enum rh_status status = prepare(&attempt);
    if (status == RH_OK)
        status = merge(&attempt);
    if (status != RH_OK) {
        end = give_up(&attempt);
    } else if (access(attempt.merged, F_OK) == 0) {
        attempt.extras.program = rh_arena_printf(&link->ld.arena, "%s/program.o", link->temps);
        end = build_from_merged(&attempt);
    }
    rh_ticker_end();
    rh_vec_free(&attempt.wrappable);
    rh_vec_free(&attempt.wraps);
    rh_vec_free(&attempt.named);
    return end;
}

/* Hides the object that racehive-instrument named on one line; adds its name to the list. */
static void hide_object(struct rh_ld *ld, const char *name, struct rh_strbuf *names)
{
    rh_vec_each (struct rh_ld_arg, arg, &ld->args) {
        if (!arg->can_hide || arg->hidden || strcmp(arg->path, name) != 0)
            continue;
        arg->hidden = true;
        rh_strbuf_addf(names, "%s%s", names->len > 0 ? ", " : "", name);
    }
}

void rh_link_hide_assembly(struct rh_link *link, struct rh_strbuf *names)
{
    struct rh_wordlist argv = RH_VEC_INIT;
    rh_vec_push(&argv, rh_link_own_file(link, "racehive-instrument"));
    rh_vec_push(&argv, "--has-asm");
    size_t before = argv.len;
    rh_vec_each (struct rh_ld_arg, arg, &link->ld.args)
        if (arg->can_hide)
            rh_vec_push(&argv, arg->path);
    if (argv.len > before && rh_link_run(link, &argv) == RH_OK) {
        char *text = rh_strbuf_detach(&link->out), *rest = text;
        for (char *line; (line = strsep(&rest, "\n"));)
            hide_object(&link->ld, line, names);
        free(text);
    }
    rh_vec_free(&argv);
}
