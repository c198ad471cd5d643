/* SPDX-License-Identifier: Apache-2.0 */
/* racehive-instrument: the options of the link step, and the small questions racehive-ld asks. */
#include <stdio.h>

#include "base/args.h"
#include "base/log.h"
#include "ir/read/assembly.h"
#include "ir/rewrite/link.h"
#include "linkstep/linkstep.h"

struct options {
    struct rh_linkstep step;
    bool merge, has_asm, verbose;
};

static enum rh_status merge(const struct options *o, const struct rh_args *args)
{
    if (!args->argc || !o->step.object)
        return rh_fail(RH_ERR_USAGE, "--merge takes bitcode files and --object");
    return rh_ir_link((const char *const *)args->argv, (size_t)args->argc, o->step.object);
}

/* Prints the names of the objects whose source has file-scope assembly, one per line. */
static enum rh_status print_assembly(const struct rh_args *args)
{
    for (int i = 0; i < args->argc; i++) {
        bool has;
        enum rh_status status = rh_ir_has_assembly(args->argv[i], &has);
        if (status != RH_OK)
            return status;
        if (has)
            puts(args->argv[i]);
    }
    return RH_OK;
}

static enum rh_status run(const struct rh_command *command, struct options *o, int argc,
                          char **argv)
{
    struct rh_args args;
    enum rh_status status = rh_args_parse(command, argc - 1, argv + 1, &args);
    if (status != RH_OK)
        return status;
    if (args.help) {
        rh_args_print_help(command, stdout);
        return RH_OK;
    }
    rh_log_set_verbose(o->verbose);
    if (o->merge)
        return merge(o, &args);
    if (o->has_asm)
        return print_assembly(&args);
    if (!o->step.input || !o->step.object || !o->step.sidecar || !o->step.program)
        return rh_fail(RH_ERR_USAGE, "--input, --object, --sidecar and --program are needed");
    return rh_linkstep_instrument(&o->step);
}

int main(int argc, char **argv)
{
    struct options o = {.step = {.type = "exe",
                                 .profile = "production",
                                 .keys = "patch",
                                 .sites = "candidates",
                                 .trust = "all",
                                 .escape = "on",
                                 .opt = 2,
                                 .seconds = RH_ANALYSIS_SECONDS}};
    struct rh_linkstep *step = &o.step;
    const struct rh_option table[] = {
        RH_OPTION_STRING("input", &step->input, "FILE", "merged bitcode to instrument"),
        RH_OPTION_STRING("object", &step->object, "FILE", "object, or merged bitcode, to write"),
        RH_OPTION_STRING("sidecar", &step->sidecar, "FILE", "PROG.racehive to write"),
        RH_OPTION_STRING("program", &step->program, "FILE", "name of the program being linked"),
        RH_OPTION_STRING("type", &step->type, "exe|shared", "what is being linked"),
        RH_OPTION_STRING("profile", &step->profile, "production|testing", "keys, or checks"),
        RH_OPTION_STRING("keys", &step->keys, "patch|flag|none", "how keys are switched"),
        RH_OPTION_STRING("sites", &step->sites, "candidates|all", "which accesses get a key"),
        RH_OPTION_STRING("trust", &step->trust, "LIST", "what is taken for granted"),
        RH_OPTION_STRING("escape", &step->escape, "on|off", "whether pointer stores get a key"),
        RH_OPTION_STRING("cpu", &step->cpu, "NAME", "processor to generate code for"),
        RH_OPTION_STRING("features", &step->features, "LIST",
                         "processor features, as LLVM names them"),
        RH_OPTION_STRING("config", &step->config, "FILE", "configuration to keep in the sidecar"),
        RH_OPTION_UINT("opt", &step->opt, "N", "optimisation level of the code generator"),
        RH_OPTION_UINT("analysis-seconds", &step->seconds, "N",
                       "processor time that the search for candidates may take"),
        RH_OPTION_UINT("pic", &step->pic, "0|1", "generate position-independent code"),
        RH_OPTION_FLAG("merge", &o.merge, "only merge the bitcode files given as operands"),
        RH_OPTION_FLAG("has-asm", &o.has_asm, "only name the objects with file-scope assembly"),
        RH_OPTION_FLAG("has-native", &step->has_native,
                       "code without bitcode will be linked with the object"),
        RH_OPTION_FLAG("has-runtime", &step->has_runtime,
                       "the runtime will be linked with the object, into a dynamic executable"),
        RH_OPTION_STRING("keyed", &step->keyed, "NAME",
                         "a shared library with keys that is linked"),
        RH_OPTION_STRING("starter", &step->starter, "NAME",
                         "code without bitcode that can start threads"),
        RH_OPTION_FLAG("verbose", &o.verbose, "say what is being done"),
        RH_OPTION_END,
    };
    const struct rh_command command = {
        .name = "racehive-instrument",
        .synopsis = "--input=FILE --object=FILE --sidecar=FILE --program=FILE [OPTIONS]",
        .summary =
            "Finds candidates and puts keys into a merged module; run by racehive-ld, not by hand.",
        .options = table,
    };
    rh_log_set_program("racehive");
    enum rh_status status = run(&command, &o, argc, argv);
    if (status != RH_OK)
        rh_log_error("%s", rh_error_text());
    return rh_exit_status(status);
}
