/* SPDX-License-Identifier: Apache-2.0 */
/* Many runs of a program: see campaign.h. */
#include "campaign/campaign.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NO_USER = -1, LOOK_MS = 200, GRACE_NS = 2000000000 };

/* One execution under way, and whose it is. */
struct job {
    struct rh_execution *execution; /* NULL: free */
    size_t image;                   /* whose tasks it has */
    struct rh_assignment assignment;
    uint64_t run; /* in that image's store */
    int64_t user; /* NO_USER when runs are counted */
    struct rh_pool_share share;
    uint32_t attempt;  /* the user's next */
    uint64_t ended_at; /* age at which we asked it to end; 0: we did not */
    bool lingers;      /* it has ended, but not all of its processes */
    int input;
};

struct campaign {
    const struct rh_campaign_options *options;
    struct rh_process *process;
    uint64_t runs_before; /* of the program: whose turn it is goes on where it was */
    struct rh_campaign_result *result;
    struct job *jobs;
    uint64_t started, users_started;
    uint64_t slowest_ns; /* of the runs that came to an end */
    int input;           /* what the program reads, a file without a name; -1: nothing */
    bool is_many;
};

static atomic_int interrupt_signal;
static atomic_bool was_typed;        /* an interrupt, at the terminal */
static atomic_int signal_to_pass_on; /* one that a single run has not got itself */

/* What the terminal sends, the kernel has sent to a single run as well: it is in our group. */
static void note_interrupt(int signal, siginfo_t *info, void *context)
{
    (void)context;
    atomic_store(&interrupt_signal, signal);
    if (info->si_code != SI_KERNEL)
        atomic_store(&signal_to_pass_on, signal);
    else if (signal == SIGINT)
        atomic_store(&was_typed, true);
}

/* --- standard input: every run reads the same --- */

static enum rh_status copy_input(int to)
{
    char bytes[65536];
    for (;;) {
        ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
        if (got == 0)
            return RH_OK;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return rh_fail_errno(RH_ERR_IO, "cannot read standard input");
        for (ssize_t done = 0; done < got;) {
            ssize_t put = write(to, bytes + done, (size_t)(got - done));
            if (put < 0)
                return rh_fail_errno(RH_ERR_IO, "cannot keep standard input for the runs");
            done += put;
        }
    }
}

/* A terminal is nobody's: many programs cannot read from it at once. The copy has no name, so that
 * nothing is left of it however we end. */
static enum rh_status keep_input(struct campaign *c)
{
    struct stat info;
    if (!c->is_many || isatty(STDIN_FILENO) || fstat(STDIN_FILENO, &info) != 0 ||
        S_ISCHR(info.st_mode))
        return RH_OK;
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/racehive-input.XXXXXX", folder ? folder : "/tmp");
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return rh_fail_errno(RH_ERR_IO, "cannot make %s", path);
    c->input = fd;
    unlink(path);
    return copy_input(fd);
}

/* Each run reads at its own pace, so it has to be opened anew. */
static enum rh_status open_input(const struct campaign *c, int *input)
{
    char path[64] = "/dev/null";
    *input = -1;
    if (!c->is_many)
        return RH_OK;
    if (c->input >= 0)
        snprintf(path, sizeof path, "/proc/self/fd/%d", c->input);
    *input = open(path, O_RDONLY | O_CLOEXEC);
    return *input >= 0 ? RH_OK : rh_fail_errno(RH_ERR_IO, "cannot open %s", path);
}

/* --- starting --- */

static struct rh_pool *pool_of(const struct campaign *c, const struct job *job)
{
    return rh_process_at(c->process, job->image)->pool;
}

static size_t choose_image(const struct campaign *c, uint64_t turn)
{
    return c->options->only ? c->options->only : rh_process_turn(c->process, turn);
}

/* A candidate of the image whose turn it is, else of any other. */
static bool draw(struct campaign *c, struct job *job)
{
    for (size_t i = 0; i < rh_process_count(c->process); i++) {
        job->image = choose_image(c, c->users_started + i);
        if (rh_pool_draw(pool_of(c, job), &job->share))
            return true;
    }
    return false;
}

static bool assign_to_user(struct campaign *c, struct job *job)
{
    if (job->user != NO_USER &&
        rh_pool_assign_user(pool_of(c, job), &job->share, job->attempt++, &job->assignment))
        return true;
    while (c->users_started < c->options->users && draw(c, job)) {
        job->user = (int64_t)c->users_started++;
        job->attempt = 0;
        if (rh_pool_assign_user(pool_of(c, job), &job->share, job->attempt++, &job->assignment))
            return true;
    }
    job->user = NO_USER;
    return false;
}

/* False if there is nothing to do, or nothing to do it with. A program without candidates runs all
 * the same, as often as was asked. */
static bool assign(struct campaign *c, struct job *job)
{
    if (c->options->users)
        return assign_to_user(c, job);
    if (c->started >= c->options->runs)
        return false;
    job->image = choose_image(c, c->runs_before + c->started);
    rh_pool_assign(pool_of(c, job), &job->assignment);
    return true;
}

/* By the number of the run, so that processes that share a store do not choose alike. */
static uint64_t chance_of(uint64_t run)
{
    struct rh_hash chance;
    rh_hash_init(&chance);
    rh_hash_add_u64(&chance, run);
    return rh_hash_finish(&chance);
}

static enum rh_status execute(struct campaign *c, struct job *job)
{
    const struct rh_campaign_options *o = c->options;
    const struct rh_assignment *a = &job->assignment;
    struct rh_execution_task tasks[RH_MAX_TASKS];
    const struct rh_execution_image *images;
    const struct rh_runs_pair *pairs;
    size_t image_count, pair_count;
    enum rh_status status =
        rh_process_describe(c->process, chance_of(job->run), &images, &image_count);
    if (status == RH_OK)
        status = rh_process_pairs(c->process, &pairs, &pair_count);
    if (status != RH_OK)
        return status;
    for (size_t i = 0; i < a->count; i++)
        tasks[i] = rh_process_task(c->process, job->image, &a->tasks[i], a->skips[i]);
    const struct rh_execution_request request = {
        .argv = o->argv,
        .options = o->run_options,
        .detector = o->detector,
        .images = images,
        .image_count = image_count,
        .tasks = tasks,
        .task_count = a->count,
        .part = (uint32_t)job->image,
        .pairs = pairs,
        .pair_count = pair_count,
        .longest_pause_us = o->longest_pause_us,
        .input = job->input,
        .is_quiet = c->is_many && c->started > 0 && !o->shows_output,
        .is_apart = c->is_many,
        .namer = rh_process_namer(c->process),
    };
    return rh_execution_start(&request, &job->execution);
}

static enum rh_status start(struct campaign *c, struct job *job)
{
    const struct rh_assignment *a = &job->assignment;
    enum rh_status status = rh_runs_begin(rh_process_at(c->process, job->image)->runs,
                                          job->user == NO_USER ? 0 : (uint32_t)job->user, a->tasks,
                                          a->count, &job->run);
    if (status == RH_OK)
        status = open_input(c, &job->input);
    if (status != RH_OK)
        return status;
    status = execute(c, job);
    job->ended_at = 0;
    job->lingers = false;
    c->started++;
    if (job->input >= 0)
        close(job->input);
    return status;
}

/* --- ending --- */

static int shell_status(const struct rh_runs_end *end)
{
    return end->signal ? 128 + end->signal : end->exit_status;
}

static bool is_said_to_misbehave(const struct campaign *c)
{
    return c->options->misbehaved && !c->is_many && atomic_load(&was_typed) &&
           c->options->misbehaved(c->options->program);
}

static enum rh_status complete(struct campaign *c, struct job *job)
{
    struct rh_execution_ending ending;
    bool hung = job->ended_at != 0 || is_said_to_misbehave(c);
    rh_execution_finish(job->execution, hung, &ending);
    int exit_status = shell_status(&ending.end);
    if (!c->result->exit_status)
        c->result->exit_status = exit_status;
    if (!hung && ending.end.wall_ns > c->slowest_ns)
        c->slowest_ns = ending.end.wall_ns;
    if (!ending.started && !c->result->completed)
        rh_log_warn("%s did not start Racehive's runtime: was it switched off, or replaced by a "
                    "program without it?",
                    c->options->program);
    for (int i = 0; i < RH_LOSS_COUNT; i++)
        c->result->losses[i] += ending.end.losses[i];
    enum rh_status status =
        rh_process_keep(c->process, job->image, job->run, &job->assignment, &ending);
    c->result->completed++;
    rh_execution_ending_release(&ending);
    rh_execution_free(job->execution);
    job->execution = NULL;
    return status;
}

static void forget(struct campaign *c, struct job *job)
{
    if (!job->execution)
        return;
    rh_pool_abandoned(pool_of(c, job), &job->assignment);
    rh_execution_free(job->execution);
    job->execution = NULL;
}

/* How long a run may take: much longer than any before. */
static uint64_t limit_of(const struct campaign *c)
{
    enum { TIMES = 10 };
    const uint64_t extra = 10000000000;
    if (c->options->time_limit_ns)
        return c->options->time_limit_ns;
    return c->slowest_ns ? TIMES * c->slowest_ns + extra : UINT64_MAX;
}

static void end_late(struct campaign *c, struct job *job)
{
    uint64_t age = rh_execution_age(job->execution);
    if (job->ended_at && age > job->ended_at + GRACE_NS) {
        rh_execution_signal(job->execution, SIGKILL);
    } else if (!job->ended_at && age > limit_of(c)) {
        job->ended_at = age;
        rh_execution_signal(job->execution, SIGTERM);
    }
}

/* --- the loop --- */

static void show_progress(const struct campaign *c, uint32_t active)
{
    if (!c->is_many || !c->options->shows_progress)
        return;
    struct rh_campaign_progress progress = {c->result->completed, c->users_started, active, {0}};
    rh_process_count_pools(c->process, &progress.counts);
    c->options->shows_progress(c->options, &progress);
}

static enum rh_status fill_jobs(struct campaign *c, uint32_t *active)
{
    *active = 0;
    for (uint32_t i = 0; i < c->options->jobs; i++) {
        struct job *job = &c->jobs[i];
        if (!job->execution && assign(c, job)) {
            enum rh_status status = start(c, job);
            if (status != RH_OK)
                return status;
        }
        *active += job->execution != NULL;
    }
    return RH_OK;
}

static void wait_for_any(struct campaign *c, struct pollfd *fds)
{
    for (uint32_t i = 0; i < c->options->jobs; i++) {
        struct rh_execution *e = c->jobs[i].execution;
        bool is_awaited = e && !c->jobs[i].lingers;
        fds[i] = (struct pollfd){.fd = is_awaited ? rh_execution_fd(e) : -1, .events = POLLIN};
    }
    if (poll(fds, c->options->jobs, LOOK_MS) < 0)
        memset(fds, 0, c->options->jobs * sizeof *fds);
}

/* A daemon, or a child that was not waited for, is a part of the run. */
static bool lingers(const struct campaign *c, struct job *job)
{
    bool before = job->lingers;
    job->lingers = rh_execution_lingers(job->execution);
    if (job->lingers && !before)
        rh_log_step("%s has ended, and left processes that still run", c->options->program);
    if (job->lingers && atomic_load(&interrupt_signal))
        rh_execution_signal(job->execution, SIGTERM);
    return job->lingers;
}

static enum rh_status turn(struct campaign *c, struct pollfd *fds, uint32_t *active)
{
    enum rh_status status = fill_jobs(c, active);
    if (status != RH_OK || !*active)
        return status;
    show_progress(c, *active);
    wait_for_any(c, fds);
    for (uint32_t i = 0; i < c->options->jobs && status == RH_OK; i++) {
        struct job *job = &c->jobs[i];
        if (!job->execution)
            continue;
        if ((fds[i].revents || job->lingers) && !lingers(c, job))
            status = complete(c, job);
        else
            end_late(c, job);
    }
    return status;
}

/* A single run at a terminal gets the terminal's signals itself, and we wait for its end; many runs
 * do not, and are ended. */
static bool is_stopped(const struct campaign *c)
{
    int signal = atomic_load(&interrupt_signal);
    if (!signal)
        return false;
    c->result->interrupted = signal;
    return c->is_many;
}

static void pass_signal_on(const struct campaign *c)
{
    int signal = atomic_exchange(&signal_to_pass_on, 0);
    if (signal && !c->is_many && c->jobs[0].execution)
        rh_execution_signal(c->jobs[0].execution, signal);
}

static const int interrupts[] = {SIGINT, SIGTERM, SIGHUP};
enum { INTERRUPTS = sizeof interrupts / sizeof interrupts[0] };

static enum rh_status loop(struct campaign *c)
{
    struct sigaction before[INTERRUPTS],
        noting = {.sa_sigaction = note_interrupt, .sa_flags = SA_SIGINFO};
    struct pollfd *fds = rh_calloc(c->options->jobs, sizeof *fds);
    uint32_t active = 1;
    atomic_store(&interrupt_signal, 0);
    atomic_store(&signal_to_pass_on, 0);
    atomic_store(&was_typed, false);
    for (int i = 0; i < INTERRUPTS; i++)
        if (sigaction(interrupts[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(interrupts[i], &noting, NULL);
    enum rh_status status = RH_OK;
    while (status == RH_OK && active && !is_stopped(c)) {
        status = turn(c, fds, &active);
        pass_signal_on(c);
    }
    for (uint32_t i = 0; i < c->options->jobs; i++)
        forget(c, &c->jobs[i]);
    for (int i = 0; i < INTERRUPTS; i++)
        sigaction(interrupts[i], &before[i], NULL);
    free(fds);
    return status;
}

enum rh_status rh_campaign_run(struct rh_process *process,
                               const struct rh_campaign_options *options,
                               struct rh_campaign_result *result)
{
    struct campaign *c = rh_calloc(1, sizeof *c);
    *c = (struct campaign){
        .options = options,
        .process = process,
        .result = result,
        .jobs = rh_calloc(options->jobs, sizeof *c->jobs),
        .input = -1,
        .is_many = options->users > 0 || options->runs > 1,
    };
    *result = (struct rh_campaign_result){0};
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* of processes that outlive the program */
    for (uint32_t i = 0; i < options->jobs; i++)
        c->jobs[i].user = NO_USER;
    enum rh_status status = rh_runs_count(rh_process_at(process, 0)->runs, &c->runs_before);
    if (status == RH_OK)
        status = keep_input(c);
    if (status == RH_OK)
        status = loop(c);
    if (c->input >= 0)
        close(c->input);
    free(c->jobs);
    free(c);
    return status;
}
