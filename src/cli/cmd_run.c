/* SPDX-License-Identifier: Apache-2.0 */
/* `racehive run`: runs a program under a detector and tells which candidates are races. */
#include "base/args.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "campaign/campaign.h"
#include "cli/cli.h"
#include "cli/results.h"
#include "cli/suppressions.h"
#include "hive/filtered.h"
#include "racehive/detectors.h"
#include "report/images.h"
#include "report/report.h"
#include "report/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LISTED = 10000, SHOWN = 10, US_PER_MS = 1000 };

#define DEFAULT_DETECTOR "racemob"

/* The value of a number that no option has set. */
#define NOT_GIVEN UINT64_MAX

struct options {
    const char *detector;
    uint64_t runs, users, jobs;
    uint64_t tasks_per_run, screen;
    uint64_t pause_ms, pause_step_ms, longest_pause_ms;
    double max_overhead;
    bool no_steering;
    uint64_t timeout;
    uint64_t seed;
    uint64_t exitcode;
    bool show_output;
    bool ask;
    const char *store, *json, *symbols, *from, *hive, *image;
    struct rh_cli_suppressions suppressions;
};

/* What is open while the command runs. */
struct session {
    struct options *options;
    struct rh_suppressions suppressions;
    char *program; /* the path that is executed */
    char *library; /* the one that all tasks are of, if the user named one; else NULL */
    size_t only;   /* its position among the images; 0: tasks are of all */
    struct rh_process *process;
};

/* --- options --- */

/* Those that find races; the others only show what a run does, without tasks or verdicts. */
static bool is_offered(const struct rh_detector *detector)
{
    return detector->work != RH_WORK_DIAGNOSE;
}

static const struct rh_detector *find_detector(const char *name)
{
    for (size_t i = 0; i < RH_DETECTOR_COUNT; i++)
        if (is_offered(&rh_detectors[i]) && strcmp(rh_detectors[i].name, name) == 0)
            return &rh_detectors[i];
    return NULL;
}

/* "racemob, racechaser or litehb" */
static const char *list_detectors(void)
{
    static char list[256];
    const char *last = NULL;
    for (size_t i = 0; i < RH_DETECTOR_COUNT; i++)
        if (is_offered(&rh_detectors[i]))
            last = rh_detectors[i].name;
    size_t at = 0;
    for (size_t i = 0; i < RH_DETECTOR_COUNT && at < sizeof list; i++) {
        const char *name = rh_detectors[i].name;
        if (is_offered(&rh_detectors[i]))
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%s",
                                   at == 0        ? ""
                                   : name == last ? " or "
                                                  : ", ",
                                   name);
    }
    return list;
}

/* How a detector's work is divided into tasks. */
static const struct method {
    enum rh_pool_method method;
    uint32_t screened; /* candidates that a run watches beside its tasks */
    bool has_tasks, has_verdicts;
} methods[] = {
    [RH_WORK_MEET] = {RH_POOL_ORDER, 0, false, false},
    [RH_WORK_FILTER] = {RH_POOL_ORDER, 0, false, false},
    [RH_WORK_FIND] = {RH_POOL_ORDER, 0, false, true},
    [RH_WORK_VALIDATE] = {RH_POOL_VALIDATE, 31, true, true},
    [RH_WORK_COLLIDE] = {RH_POOL_COLLIDE, 0, true, true},
    [RH_WORK_ORDER] = {RH_POOL_ORDER, 0, true, true},
};

static const struct method *method_of(const struct options *o)
{
    return &methods[find_detector(o->detector)->work];
}

static enum rh_status check_options(const struct options *o)
{
    if (!find_detector(o->detector))
        return rh_fail(RH_ERR_USAGE, "no detector '%s' in this version; use %s", o->detector,
                       list_detectors());
    if (o->users && !method_of(o)->has_tasks)
        return rh_fail(RH_ERR_USAGE,
                       "--users does not go with the detector %s, which works on all candidates at "
                       "once; use --runs",
                       o->detector);
    if (o->hive)
        return rh_fail(RH_ERR_USAGE, "--hive is not part of this version (racehive %s)",
                       RH_VERSION);
    if (o->from && !method_of(o)->has_tasks)
        return rh_fail(RH_ERR_USAGE,
                       "--from does not go with the detector %s, which works on all candidates at "
                       "once",
                       o->detector);
    if (o->from && strcmp(o->from, "caper") != 0 && !strchr(o->from, '/') &&
        access(o->from, R_OK) != 0)
        return rh_fail(RH_ERR_USAGE, "--from is caper or the path of a store of its runs, not '%s'",
                       o->from);
    if (o->runs && o->users)
        return rh_fail(RH_ERR_USAGE, "--runs and --users do not go together (see 'racehive run "
                                     "--help')");
    if (o->jobs == 0 || o->jobs > 1024)
        return rh_fail(RH_ERR_USAGE, "--jobs must be 1 to 1024");
    if (o->tasks_per_run == 0 || o->tasks_per_run > RH_MAX_TASKS)
        return rh_fail(RH_ERR_USAGE, "--tasks-per-run must be 1 to %u", RH_MAX_TASKS);
    if (o->max_overhead < 0 || o->max_overhead > 1000)
        return rh_fail(RH_ERR_USAGE, "--max-overhead must be a share of the time, such as 0.02");
    if (o->longest_pause_ms > 3600000 || o->pause_ms > o->longest_pause_ms)
        return rh_fail(RH_ERR_USAGE,
                       "--pause must be at most --longest-pause, and that at most one hour");
    return rh_cli_check_exitcode(o->exitcode);
}

/* --- opening --- */

/* A name without a slash is a file here, as the other commands take it, or a command. */
static char *resolve_program(const char *operand)
{
    if (strchr(operand, '/') || access(operand, X_OK) != 0)
        return rh_strdup(operand);
    struct rh_strbuf path = RH_STRBUF_INIT;
    rh_strbuf_addf(&path, "./%s", operand);
    return rh_strbuf_detach(&path);
}

/* Accesses that come far apart meet only in a long pause. More than half of what a short run may
 * pause at all leaves it a fair chance to be begun, and is worth it if it is longer than the
 * detector's own. */
static uint32_t long_pause_us(const struct options *o)
{
    enum { SHORT_RUN_US = 1000000, OWN_US = 10000 };
    double pause_us = o->max_overhead * SHORT_RUN_US * 0.6;
    double most_us = (double)(o->longest_pause_ms * US_PER_MS);
    if (pause_us > most_us)
        pause_us = most_us;
    return pause_us > OWN_US ? (uint32_t)pause_us : 0;
}

static struct rh_pool_options choose_tasks(const struct options *o)
{
    const struct method *method = method_of(o);
    bool is_default = o->screen == UINT64_MAX || !method->has_tasks;
    uint64_t screened = is_default ? method->screened : o->screen;
    return (struct rh_pool_options){
        .method = method->method,
        .tasks_per_run = method->has_tasks ? (uint32_t)o->tasks_per_run : 0,
        .screened_per_run = screened < RH_MAX_TASKS ? (uint32_t)screened : RH_MAX_TASKS,
        .first_pause_us = (uint32_t)(o->pause_ms * US_PER_MS),
        .pause_step_us = (uint32_t)(o->pause_step_ms * US_PER_MS),
        .longest_pause_us = (uint32_t)(o->longest_pause_ms * US_PER_MS),
        .long_pause_us = long_pause_us(o),
        .steers = !o->no_steering,
        .seed = o->seed,
    };
}

/* The library that all tasks are of, if the user named one. */
static enum rh_status choose_library(struct session *s)
{
    const char *wanted = s->options->image;
    if (!wanted)
        return RH_OK;
    s->library = access(wanted, R_OK) == 0 ? rh_strdup(wanted) : rh_images_find(s->program, wanted);
    if (!s->library)
        return rh_fail(RH_ERR_NOT_FOUND,
                       "%s is neither a file nor a library that %s needs; for one that it loads "
                       "later, give the path",
                       wanted, s->program);
    return rh_process_add(s->process, s->library, &s->only);
}

/* The profile that the program was built in. */
static enum rh_status read_profile(const struct session *s, bool *is_testing)
{
    char *path = NULL;
    struct rh_sidecar *sidecar = NULL;
    enum rh_status status = rh_sidecar_find(s->program, s->options->symbols, &path);
    if (status == RH_OK)
        status = rh_sidecar_open(path, &sidecar);
    if (status == RH_OK) {
        const char *profile = rh_sidecar_get_meta(sidecar, RH_SIDECAR_META_PROFILE);
        *is_testing = profile && strcmp(profile, "testing") == 0;
        rh_sidecar_close(sidecar);
    }
    free(path);
    return status;
}

/* The default is that of the profile. Checks are for the detectors of tests alone; these take a
 * program with keys, too. */
static enum rh_status choose_detector(struct session *s)
{
    bool is_testing = false;
    enum rh_status status = read_profile(s, &is_testing);
    if (status != RH_OK)
        return status;
    if (!s->options->detector)
        s->options->detector = is_testing ? "fasttrack" : DEFAULT_DETECTOR;
    status = check_options(s->options);
    if (status == RH_OK && is_testing &&
        find_detector(s->options->detector)->profile != RH_NEEDS_TESTING)
        return rh_fail(RH_ERR_USAGE,
                       "%s was built with --rh-profile=testing; for the detector %s build it "
                       "without",
                       s->program, s->options->detector);
    return status;
}

static enum rh_status open_session(struct session *s, const char *operand)
{
    s->program = resolve_program(operand);
    enum rh_status chosen = choose_detector(s);
    if (chosen != RH_OK)
        return chosen;
    const struct options *o = s->options;
    const struct rh_process_options options = {
        .detector = o->detector,
        .store = o->store,
        .symbols = o->symbols,
        .from = o->from,
        .pool = choose_tasks(o),
    };
    enum rh_status status = rh_process_open(s->program, &options, &s->process);
    if (status == RH_OK)
        status = choose_library(s);
    if (status == RH_OK)
        status = rh_cli_read_suppressions(&o->suppressions, s->library ? s->library : s->program,
                                          &s->suppressions);
    return status;
}

static void close_session(struct session *s)
{
    rh_process_close(s->process);
    rh_suppressions_release(&s->suppressions);
    free(s->program);
    free(s->library);
}

/* The image that is reported on. */
static const struct rh_process_image *subject_of(const struct session *s)
{
    return rh_process_at(s->process, s->only);
}

/* --- the end --- */

static bool has_true_race(const struct rh_report *report)
{
    for (size_t i = 0; i < report->candidates.len; i++)
        if (report->candidates.data[i].verdict == RH_VERDICT_TRUE_RACE)
            return true;
    return false;
}

/* Prints a command that lists candidates, with the options that it must repeat. */
static void print_next(const struct session *s, const char *what, const char *option)
{
    struct rh_strbuf command = RH_STRBUF_INIT;
    if (s->options->store) {
        rh_strbuf_add(&command, "--store=");
        rh_strbuf_add_quoted(&command, s->options->store);
        rh_strbuf_addc(&command, ' ');
    }
    rh_strbuf_add_quoted(&command, s->program);
    printf("\n%s: racehive candidates %s %s\n", what, option, rh_strbuf_text(&command));
    rh_strbuf_release(&command);
}

/* What the filter has left. */
static enum rh_status show_filtered(const struct session *s)
{
    struct rh_candidates *candidates;
    struct rh_candidates_totals totals;
    struct rh_bitset sites = RH_BITSET_INIT;
    uint64_t runs;
    const struct rh_process_image *image = subject_of(s);
    enum rh_status status = rh_runs_count(image->runs, &runs);
    if (status == RH_OK)
        status = rh_filtered_sites(image->runs, &sites);
    if (status == RH_OK)
        status = rh_candidates_open(image->sidecar, NULL, &candidates);
    if (status == RH_OK) {
        uint64_t kept = rh_filtered_count(candidates, &sites);
        rh_candidates_count(candidates, &totals);
        rh_candidates_close(candidates);
        rh_table_print_text(image->name, RH_COLOUR_BOLD, stdout, rh_cli_coloured(stdout));
        printf(": %" PRIu64 " of %" PRIu64 " candidates may race as far as %" PRIu64
               " %s seen: both sites touched memory that several threads can reach\n"
               "%" PRIu64 " candidates are left out, %zu of %" PRIu64
               " sites touched such memory\n",
               kept, totals.candidates, runs, rh_table_choose(runs, "run has", "runs have"),
               totals.candidates - kept, rh_bitset_count(&sites), totals.sites);
        print_next(s, "Which may race", "--escaped");
    }
    rh_bitset_release(&sites);
    return status;
}

/* What a detector without verdicts has to say. */
static enum rh_status show_met(const struct session *s)
{
    struct rh_runs_met_totals met;
    uint64_t runs;
    const struct rh_process_image *image = subject_of(s);
    enum rh_status status = rh_runs_count(image->runs, &runs);
    if (status == RH_OK)
        status = rh_runs_count_met(image->runs, &met);
    if (status != RH_OK)
        return status;
    rh_table_print_text(image->name, RH_COLOUR_BOLD, stdout, rh_cli_coloured(stdout));
    printf(": %" PRIu64 " %s of sites met, %" PRIu64 " of them without a common lock, in %" PRIu64
           " %s\n",
           met.pairs, rh_table_choose(met.pairs, "pair", "pairs"), met.unlocked, runs,
           rh_table_choose(runs, "run", "runs"));
    print_next(s, "What met", "--observed");
    return RH_OK;
}

/* Which images take part, where that is not all; and why there is nothing to find, if so. */
static void show_images(const struct session *s, const struct rh_report *made)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    rh_images_describe(s->program, &made->libraries, &text);
    if (text.len > 0)
        rh_strbuf_addc(&text, '\n');
    if (!made->candidate_count)
        rh_images_explain_none(subject_of(s)->sidecar, &text);
    fputs(rh_strbuf_text(&text), stdout);
    rh_strbuf_release(&text);
}

static enum rh_status report(struct session *s, const char *const *arguments, bool *raced)
{
    struct rh_report made = {0};
    const struct rh_report_options options = {
        .suppressions = &s->suppressions,
        .untried_until = LISTED,
        .limit = SHOWN,
        .program = s->program,
        .library = s->library,
        .command = {.store = s->options->store,
                    .symbols = s->options->symbols,
                    .detector = strcmp(s->options->detector, DEFAULT_DETECTOR) == 0
                                    ? NULL
                                    : s->options->detector,
                    .arguments = arguments},
    };
    const struct rh_process_image *image = subject_of(s);
    enum rh_status status = rh_report_load(image->runs, image->sidecar, &options, &made);
    if (status == RH_OK) {
        *raced = has_true_race(&made);
        if (find_detector(s->options->detector)->work == RH_WORK_FIND)
            rh_report_keep_true_races(&made);
        if (method_of(s->options)->has_verdicts)
            rh_report_print_summary(&made, stdout, rh_cli_coloured(stdout));
        else if (find_detector(s->options->detector)->work == RH_WORK_FILTER)
            status = show_filtered(s);
        else
            status = show_met(s);
        rh_cli_show_unused(&s->suppressions);
        show_images(s, &made);
        if (status == RH_OK && s->options->json)
            status = rh_cli_write_report(&made, RH_REPORT_JSON, s->options->json);
    }
    rh_report_release(&made);
    return status;
}

/* --- while it runs --- */

static void show_progress(const struct rh_campaign_options *options,
                          const struct rh_campaign_progress *p)
{
    char goal[64] = "";
    if (options->runs)
        snprintf(goal, sizeof goal, " of %" PRIu64, options->runs);
    else
        snprintf(goal, sizeof goal, ", user %" PRIu64 " of %" PRIu64, p->users_started,
                 options->users);
    rh_progress("%s: run %" PRIu64 "%s, %u under way; %" PRIu64 " true %s; %" PRIu64
                " met, %" PRIu64 " tried of %" PRIu64 " candidates",
                options->program, p->completed, goal, p->active, p->counts.true_races,
                p->counts.true_races == 1 ? "race" : "races", p->counts.met, p->counts.tried,
                p->counts.all);
}

/* Whoever interrupts a program at a terminal may have seen what no signal tells: that it hangs, or
 * does the wrong thing. No terminal, no answer. */
static bool ask_whether_it_misbehaved(const char *program)
{
    FILE *terminal = fopen("/dev/tty", "r+e");
    char answer[16] = "";
    if (!terminal)
        return false;
    fprintf(terminal, "\nracehive: did %s hang or do something wrong? [y/N] ", program);
    fflush(terminal);
    bool said = fgets(answer, sizeof answer, terminal) && (answer[0] == 'y' || answer[0] == 'Y');
    fclose(terminal);
    return said;
}

static enum rh_status run_campaign(struct session *s, char **argv)
{
    const struct options *o = s->options;
    char limits[64];
    snprintf(limits, sizeof limits, "max_overhead=%.6f%s", o->max_overhead,
             o->no_steering ? ":steer=0" : "");
    argv[0] = s->program;
    const struct rh_campaign_options campaign = {
        .argv = (const char *const *)argv,
        .program = rh_process_at(s->process, 0)->name,
        .detector = o->detector,
        .only = s->only,
        .run_options = limits,
        .runs = o->runs,
        .users = o->users,
        .jobs = (uint32_t)o->jobs,
        .longest_pause_us = (uint32_t)(o->longest_pause_ms * US_PER_MS),
        .time_limit_ns = o->timeout * 1000000000,
        .shows_output = o->show_output,
        .shows_progress = show_progress,
        .misbehaved = o->ask ? ask_whether_it_misbehaved : NULL,
    };
    struct rh_campaign_result result;
    bool raced = false;
    enum rh_status status = rh_campaign_run(s->process, &campaign, &result);
    rh_progress_end();
    if (status == RH_OK)
        status = report(s, campaign.argv + 1, &raced);
    rh_cli_show_losses(result.losses);
    if (status == RH_OK)
        rh_cli_exit_status = rh_cli_choose_exit(
            raced, o->exitcode, result.interrupted ? 128 + result.interrupted : result.exit_status);
    return status;
}

static enum rh_status run(const struct rh_args *args, struct options *options)
{
    if (args->argc == 0)
        return rh_fail(RH_ERR_USAGE, "which program? (see 'racehive run --help')");
    if (options->runs == 0 || options->users == 0)
        return rh_fail(RH_ERR_USAGE, "--%s must be at least 1",
                       options->runs == 0 ? "runs" : "users");
    bool is_default = options->runs == NOT_GIVEN && options->users == NOT_GIVEN;
    options->runs = is_default ? 1 : options->runs == NOT_GIVEN ? 0 : options->runs;
    options->users = options->users == NOT_GIVEN ? 0 : options->users;
    struct session s = {.options = options};
    enum rh_status status = options->detector ? check_options(options) : RH_OK;
    if (status == RH_OK)
        status = open_session(&s, args->argv[0]);
    if (status == RH_OK)
        status = run_campaign(&s, args->argv);
    close_session(&s);
    return status;
}

static uint64_t random_seed(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 20 ^ (uint64_t)getpid() << 40;
}

static const char summary[] =
    "Runs PROG, a program built with racehive-cc, and finds out which of its candidates\n"
    "are races. Each run validates one candidate and watches some others. The results are\n"
    "kept, so that later runs continue where earlier ones ended.";
static const char examples[] =
    "  racehive run --runs=64 ./bank\n"
    "  racehive run --users=100 --jobs=4 ./bank 1000\n"
    "  racehive run --runs=20 --json=races.json ./server --once < requests";

enum rh_status rh_cmd_run(int argc, char **argv)
{
    struct options options = {
        .jobs = 1,
        .tasks_per_run = 1,
        .screen = UINT64_MAX,
        .pause_ms = 1,
        .pause_step_ms = 50,
        .longest_pause_ms = 200,
        .max_overhead = 0.02,
        .seed = random_seed(),
        .exitcode = RH_CLI_NO_EXITCODE,
        .runs = NOT_GIVEN,
        .users = NOT_GIVEN,
    };
    char detectors[320];
    snprintf(detectors, sizeof detectors,
             "%s (default racemob; fasttrack for --rh-profile=testing)", list_detectors());
    const struct rh_option table[] = {
        RH_OPTION_STRING("detector", &options.detector, "NAME", detectors),
        RH_OPTION_UINT("runs", &options.runs, "N", "execute the program N times (default 1)"),
        RH_OPTION_UINT("users", &options.users, "N",
                       "simulate N users; each works on one candidate in a few runs"),
        RH_OPTION_UINT("jobs", &options.jobs, "J", "execute J runs at a time (default 1)"),
        RH_OPTION_STRING("store", &options.store, "PATH",
                         "keep the results in PATH instead of the user's data folder"),
        RH_OPTION_STRING("json", &options.json, "FILE", "write the report as JSON to FILE"),
        RH_OPTION_UINT("tasks-per-run", &options.tasks_per_run, "N",
                       "candidates that a run validates (default 1)"),
        RH_OPTION_UINT("screen", &options.screen, "N",
                       "further candidates that a run only watches (racemob: 31)"),
        RH_OPTION_DOUBLE("max-overhead", &options.max_overhead, "SHARE",
                         "budget: share of time for hooks, and again for pauses (default 0.02)"),
        RH_OPTION_FLAG("no-steering", &options.no_steering, "never pause a thread"),
        RH_OPTION_UINT("pause", &options.pause_ms, "MS", "length of the first pause (default 1)"),
        RH_OPTION_UINT("pause-step", &options.pause_step_ms, "MS",
                       "added to the next pause when one times out (default 50)"),
        RH_OPTION_UINT("longest-pause", &options.longest_pause_ms, "MS",
                       "length of the longest pause (default 200)"),
        RH_OPTION_UINT("timeout", &options.timeout, "SECONDS",
                       "end runs that take longer (default: learned from earlier runs)"),
        RH_OPTION_UINT("exitcode", &options.exitcode, "N",
                       "exit status if there is a true race (default 66); 0: the program's"),
        RH_OPTION_FLAG("show-output", &options.show_output,
                       "show the output of every run, not only of the first"),
        RH_OPTION_FLAG("ask", &options.ask,
                       "after an interrupted single run, ask whether the program misbehaved"),
        RH_OPTION_UINT("seed", &options.seed, "N", "seed of the random choices"),
        RH_CLI_SUPPRESSIONS(&options.suppressions),
        RH_OPTION_STRING("from", &options.from, "caper|PATH", "only candidates that caper kept"),
        RH_OPTION_STRING("symbols", &options.symbols, "FILE",
                         "read the candidates from FILE, the program's .racehive file"),
        RH_OPTION_STRING("image", &options.image, "LIBRARY",
                         "validate the candidates of one library that PROG loads, alone"),
        RH_OPTION_STRING("hive", &options.hive, "URL",
                         "get tasks from a hive (not in this version)"),
        RH_OPTION_END,
    };
    const struct rh_command command = {
        .name = "racehive run",
        .synopsis = "[OPTIONS] PROG [ARGS...]",
        .summary = summary,
        .examples = examples,
        .options = table,
        .stop_at_operand = true,
    };
    struct rh_args args;
    enum rh_status status;
    return rh_cli_parse(&command, argc, argv, &args, &status) ? run(&args, &options) : status;
}
