/* SPDX-License-Identifier: Apache-2.0 */
/* Putting a linker's command line together again for each step of a link. */
#include "driver/ldsteps.h"

enum step { STEP_MERGE = 1, STEP_FINAL = 2, STEP_LLD = 4, STEP_SYSTEM = 8 };

/* Which arguments are left out of which steps. */
static bool is_dropped(const struct rh_ld *ld, const struct rh_ld_arg *arg, enum step step)
{
    static const struct {
        enum rh_ld_role role;
        int steps;
    } drops[] = {
        {RH_LD_OUTPUT, STEP_MERGE},
        {RH_LD_SIDE, STEP_MERGE},
        {RH_LD_PLUGIN, STEP_FINAL},
        {RH_LD_LTO_LEVEL, STEP_FINAL | STEP_SYSTEM},
        {RH_LD_FAT_LTO, STEP_MERGE | STEP_FINAL | STEP_LLD | STEP_SYSTEM},
    };
    if (step == STEP_SYSTEM && arg->role == RH_LD_PLUGIN)
        return !ld->has_plain_bitcode;
    if (step == STEP_FINAL && arg->content == RH_LD_BITCODE)
        return !arg->hidden;
    for (size_t i = 0; i < sizeof drops / sizeof drops[0]; i++)
        if (drops[i].role == arg->role && (drops[i].steps & (int)step))
            return true;
    return false;
}

static void push_arg(const struct rh_ld *ld, const struct rh_ld_arg *arg, enum step step,
                     struct rh_wordlist *argv)
{
    if (is_dropped(ld, arg, step))
        return;
    const char *path = step == STEP_MERGE ? arg->merge_path : NULL;
    if (step == STEP_FINAL)
        path = arg->native_path;
    if (path)
        rh_vec_push(argv, path);
    for (size_t i = 0; !path && i < arg->word_count; i++)
        rh_vec_push(argv, arg->words[i]);
}

/*
 * Where the instrumented code goes: the place of the first bitcode, so that constructors run in
 * the order of the command line; but before a --start-lib, behind which nothing is sure to be
 * linked.
 */
static size_t find_anchor(const struct rh_ld *ld)
{
    size_t at = 0;
    while (at < ld->args.len &&
           (ld->args.data[at].content == RH_LD_NATIVE || ld->args.data[at].hidden))
        at++;
    while (at < ld->args.len && at > 0 && ld->args.data[at].in_lib)
        at--;
    return at;
}

static void push_extras(struct rh_ld *ld, const struct rh_ld_extras *extras,
                        struct rh_wordlist *argv)
{
    const char *const objects[] = {extras->program, extras->glue};
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++)
        if (objects[i])
            rh_vec_push(argv, objects[i]);
    for (size_t i = 0; extras->traces && i < extras->traces->len; i++)
        rh_vec_push(argv,
                    rh_arena_printf(&ld->arena, "--trace-symbol=%s", extras->traces->data[i]));
    for (size_t i = 0; extras->wraps && i < extras->wraps->len; i++)
        rh_vec_push(argv, rh_arena_printf(&ld->arena, "--wrap=%s", extras->wraps->data[i]));
}

/*
 * Where lld is stricter than GNU ld, which most programs were written for, it is made to yield; and
 * a full disk, on which a mapped file would crash it, must be an error like any other.
 */
static void push_lld(const char *linker, struct rh_wordlist *argv)
{
    rh_vec_push(argv, linker);
    rh_vec_push(argv, "--undefined-version");
    rh_vec_push(argv, "--no-mmap-output-file");
    rh_vec_push(argv, "-znostart-stop-gc"); /* what __start_ and __stop_ symbols enclose stays */
}

static void push_default_paths(struct rh_ld *ld, struct rh_wordlist *argv)
{
    for (size_t i = ld->given_paths; i < ld->library_paths.len; i++)
        rh_vec_push(argv, rh_arena_printf(&ld->arena, "-L%s", ld->library_paths.data[i]));
}

/*
 * The runtime comes last: a program may bring some of the functions it wraps in an archive, such as
 * a free of its own beside its own malloc. An archive is asked for what is missing when it is met;
 * had the runtime been there before, nothing would be.
 */
static void push_all(struct rh_ld *ld, const struct rh_ld_extras *extras, enum step step,
                     struct rh_wordlist *argv)
{
    size_t anchor = extras ? find_anchor(ld) : ld->args.len;
    for (size_t i = 0; i < ld->args.len; i++) {
        if (i == anchor)
            push_extras(ld, extras, argv);
        push_arg(ld, &ld->args.data[i], step, argv);
    }
    if (extras && extras->runtime)
        rh_vec_push(argv, extras->runtime);
}

void rh_ld_make_merge(struct rh_ld *ld, const char *linker, const struct rh_ld_extras *extras,
                      const char *output, struct rh_wordlist *argv)
{
    push_lld(linker, argv);
    push_all(ld, extras, STEP_MERGE, argv);
    push_default_paths(ld, argv);
    /* What others may call, the optimiser leaves as it is. */
    for (size_t i = 0; extras->named && i < extras->named->len; i++)
        rh_vec_push(argv, rh_arena_printf(&ld->arena, "--export-dynamic-symbol=%s",
                                          extras->named->data[i]));
    rh_vec_push(argv, "--fat-lto-objects");
    rh_vec_push(argv, "--lto-emit-llvm");
    rh_vec_push(argv, "-o");
    rh_vec_push(argv, output);
}

void rh_ld_make_final(struct rh_ld *ld, const char *linker, const struct rh_ld_extras *extras,
                      struct rh_wordlist *argv)
{
    push_lld(linker, argv);
    push_all(ld, extras, STEP_FINAL, argv);
    push_default_paths(ld, argv);
    if (!ld->has_build_id)
        rh_vec_push(argv, "--build-id");
    /* Libraries that are loaded later look for the runtime's entry points in the executable. */
    if (!ld->shared && !rh_ld_is_static(ld)) {
        rh_vec_push(argv, "--export-dynamic-symbol=__rh_*");
        rh_vec_push(argv, "--export-dynamic-symbol=ompt_start_tool"); /* and OpenMP's library */
    }
}

void rh_ld_make_native(struct rh_ld *ld, const char *linker, enum rh_ld_linker kind,
                       struct rh_wordlist *argv)
{
    if (kind == RH_LD_LLD)
        push_lld(linker, argv);
    else
        rh_vec_push(argv, linker);
    push_all(ld, NULL, kind == RH_LD_LLD ? STEP_LLD : STEP_SYSTEM, argv);
    if (kind == RH_LD_LLD)
        push_default_paths(ld, argv);
}
