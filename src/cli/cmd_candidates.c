/* SPDX-License-Identifier: Apache-2.0 */
/* `racehive candidates`: lists the pairs of sites that may race, and tells why others cannot. */
#include "cli/cmd_candidates.h"

#include "base/args.h"
#include "base/path.h"
#include "cli/cli.h"

#include <stdlib.h>

enum { TEXT_LIMIT = 50 };

struct options {
    bool json;
    bool filters;
    bool observed;
    bool escaped;
    const char *store;
    const char *symbols;
    const char *file;
    const char *function;
    const char *why_not;
    uint64_t line;  /* 0: any */
    uint64_t limit; /* UINT64_MAX if not given; 0 shows all */
};

/* What the filter of candidates looks at. */
struct wish {
    const struct rh_locations *locations;
    const struct options *options;
};

/* A site is on every line that it was inlined through. */
static bool is_on_line(const struct wish *wish, const struct rh_sidecar_location *at)
{
    while (at && (at->line != wish->options->line ||
                  !rh_locations_match_file(wish->locations, wish->options->file, at->file)))
        at = at->inlined_at;
    return at;
}

static bool wants_site(const void *context, const struct rh_sidecar_site *site)
{
    const struct wish *wish = context;
    const struct options *options = wish->options;
    return rh_locations_match(wish->locations, options->file, options->function, site) &&
           (!options->line || is_on_line(wish, site->location));
}

static enum rh_status check_options(const struct options *options)
{
    if (options->json && (options->filters || options->why_not))
        return rh_fail(RH_ERR_USAGE,
                       "--json cannot be used with %s (see 'racehive candidates --help')",
                       options->filters ? "--filters: JSON always contains them" : "--why-not");
    if (options->filters && options->why_not)
        return rh_fail(RH_ERR_USAGE, "--filters and --why-not do not go together (see 'racehive "
                                     "candidates --help')");
    if (options->observed && (options->filters || options->why_not))
        return rh_fail(RH_ERR_USAGE,
                       "--observed cannot be used with %s (see 'racehive candidates --help')",
                       options->filters ? "--filters" : "--why-not");
    if (options->escaped && (options->filters || options->why_not || options->observed))
        return rh_fail(RH_ERR_USAGE,
                       "--escaped cannot be used with %s (see 'racehive candidates --help')",
                       options->filters   ? "--filters"
                       : options->why_not ? "--why-not"
                                          : "--observed");
    if (options->store && !options->observed && !options->escaped)
        return rh_fail(RH_ERR_USAGE,
                       "--store needs --observed or --escaped: only runs are kept in a store");
    if (options->line && !options->file)
        return rh_fail(RH_ERR_USAGE, "--line needs --file=GLOB: a line of which file?");
    return RH_OK;
}

static uint64_t choose_limit(const struct options *options)
{
    if (options->limit == UINT64_MAX && !options->json)
        return TEXT_LIMIT;
    return options->limit == 0 ? UINT64_MAX : options->limit;
}

static enum rh_status print_view(const struct rh_view *view, const struct options *options)
{
    if (options->json)
        return rh_view_print_json(view);
    if (options->filters)
        return rh_view_print_filters(view);
    if (options->why_not)
        return rh_view_explain(view, options->why_not);
    rh_view_print_text(view);
    return RH_OK;
}

static enum rh_status filter_escaped(struct rh_view *view, const char *store,
                                     const struct rh_candidates_filter *filter,
                                     struct rh_bitset *escaped)
{
    struct rh_candidate candidate;
    const struct rh_runs_met *met;
    enum rh_status status = rh_escaped_load(view, store, escaped);
    view->escaped = escaped;
    while (status == RH_OK && rh_view_next(view, view->kept, &candidate, &met))
        view->kept++;
    rh_candidates_restart(view->candidates, filter);
    return status;
}

static enum rh_status open_view(struct rh_view *view, const char *path,
                                const struct options *options, struct rh_observed_vec *observed,
                                struct rh_bitset *escaped)
{
    enum rh_status status = rh_sidecar_open(path, &view->sidecar);
    if (status == RH_OK)
        status = rh_sidecar_check_analysed(view->sidecar);
    if (status != RH_OK)
        return status;
    const char *recorded = rh_sidecar_get_meta(view->sidecar, RH_SIDECAR_META_PROGRAM);
    view->program = recorded ? recorded : view->program;
    struct wish wish = {&view->locations, options};
    struct rh_candidates_filter filter = {wants_site, &wish};
    bool filtered = options->file || options->function;
    status = rh_candidates_open(view->sidecar, filtered ? &filter : NULL, &view->candidates);
    if (status == RH_OK && options->escaped)
        status = filter_escaped(view, options->store, filtered ? &filter : NULL, escaped);
    if (status != RH_OK || !options->observed)
        return status;
    view->observed = observed;
    return rh_observed_load(view, options->store, filtered ? &filter : NULL, observed);
}

static enum rh_status list_candidates(const char *path, const char *operand,
                                      const struct options *options)
{
    struct rh_view view = {.limit = choose_limit(options), .coloured = rh_cli_coloured(stdout)};
    struct rh_observed_vec observed = RH_VEC_INIT;
    struct rh_images_libraries libraries = RH_VEC_INIT;
    struct rh_bitset escaped = RH_BITSET_INIT;
    char *name = rh_path_basename(operand);
    view.program = name;
    view.path = operand;
    view.libraries = &libraries;
    rh_locations_init(&view.locations);
    enum rh_status status = open_view(&view, path, options, &observed, &escaped);
    if (status == RH_OK)
        status = print_view(&view, options);
    rh_vec_free(&observed);
    rh_bitset_release(&escaped);
    rh_images_close(&libraries);
    if (view.candidates)
        rh_candidates_close(view.candidates);
    if (view.sidecar)
        rh_sidecar_close(view.sidecar);
    rh_locations_release(&view.locations);
    free(name);
    return status;
}

static enum rh_status run(const struct rh_args *args, const struct options *options)
{
    if (args->argc != 1)
        return rh_fail(RH_ERR_USAGE, "%s (see 'racehive candidates --help')",
                       args->argc == 0 ? "which program?" : "one program at a time");
    char *path;
    enum rh_status status = check_options(options);
    if (status == RH_OK)
        status = rh_sidecar_find(args->argv[0], options->symbols, &path);
    if (status != RH_OK)
        return status;
    status = list_candidates(path, args->argv[0], options);
    free(path);
    return status;
}

enum rh_status rh_cmd_candidates(int argc, char **argv)
{
    struct options options = {.limit = UINT64_MAX};
    const struct rh_option table[] = {
        RH_OPTION_FLAG("json", &options.json, "print JSON; all candidates unless --limit is given"),
        RH_OPTION_FLAG("observed", &options.observed,
                       "only pairs that runs have shown to meet, most interesting first"),
        RH_OPTION_FLAG("escaped", &options.escaped,
                       "only those that may race as far as runs of the detector caper have seen"),
        RH_OPTION_STRING("store", &options.store, "PATH",
                         "with --observed: the runs in PATH (default: of all detectors); "
                         "with --escaped: those of caper"),
        RH_OPTION_STRING("symbols", &options.symbols, "FILE",
                         "read the candidates from FILE, the program's .racehive file"),
        RH_OPTION_STRING("file", &options.file, "GLOB",
                         "only candidates with a site in a source file that matches"),
        RH_OPTION_UINT("line", &options.line, "N",
                       "only candidates with a site on line N of such a file"),
        RH_OPTION_STRING("function", &options.function, "NAME",
                         "only candidates with a site in this function, or inlined into it"),
        RH_OPTION_UINT("limit", &options.limit, "N",
                       "show at most N candidates; 0 shows all (default 50, JSON: all)"),
        RH_OPTION_FLAG("filters", &options.filters,
                       "show pairs removed per filter, time per phase, unknown functions"),
        RH_OPTION_STRING("why-not", &options.why_not, "FILE:LINE",
                         "show for each access on a line which filter removed it"),
        RH_OPTION_END,
    };
    const struct rh_command command = {
        .name = "racehive candidates",
        .synopsis = "[OPTIONS] PROG",
        .summary =
            "Lists the candidates of PROG, a program or shared library built with racehive-cc,\n"
            "or its .racehive file, highest score first: pairs of sites that may touch the same\n"
            "memory at the same time, at least one of them writing, without a common lock.",
        .examples = "  racehive candidates ./bank\n"
                    "  racehive candidates --file='queue*.c' --limit=0 ./bank\n"
                    "  racehive candidates --file=queue.c --line=41 ./bank\n"
                    "  racehive candidates --why-not queue.c:41 ./bank\n"
                    "  racehive candidates --observed ./bank\n"
                    "  racehive candidates --json ./bank | jq '.candidates[].why'",
        .options = table,
    };
    struct rh_args args;
    enum rh_status status;
    return rh_cli_parse(&command, argc, argv, &args, &status) ? run(&args, &options) : status;
}
