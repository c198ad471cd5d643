/* SPDX-License-Identifier: Apache-2.0 */
/* One execution of a program: see execution.h. */
#include "agent/execution.h"

#include "agent/page.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct rh_execution {
    struct rh_execution_task tasks[RH_MAX_TASKS];
    size_t task_count;
    uint32_t part; /* that the tasks are of */
    struct rh_execution_namer namer;
    uint32_t longest_pause_us;
    struct rh_page page;
    pid_t pid;
    int pid_fd;
    bool is_apart;
    bool is_over;
    int status;
    uint64_t began, ended;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* --- the control page --- */

static uint32_t digit_of(char c)
{
    return c >= 'a' ? (uint32_t)(c - 'a') + 10 : (uint32_t)(c - '0');
}

static uint32_t read_build_id(const char *text, uint8_t *bytes)
{
    uint32_t size = 0;
    for (; text[0] && text[1] && size < RH_BUILD_ID_SIZE; text += 2)
        bytes[size++] = (uint8_t)(digit_of(text[0]) << 4 | digit_of(text[1]));
    return size;
}

/* Its sites follow those of the images before it. */
static void write_image(struct rh_shared *shared, uint32_t number,
                        const struct rh_execution_image *image)
{
    struct rh_keyed_image *row = &shared->keyed[number];
    uint32_t first = atomic_load(&shared->site_count);
    uint32_t room = first < RH_SCOUT_SITES ? RH_SCOUT_SITES - first : 0;
    if (!image->build_id)
        return;
    if (image->wishes && room)
        memcpy(&shared->scout.wishes[first], image->wishes,
               image->site_count < room ? image->site_count : room);
    row->site_count = image->site_count;
    row->first_site = first;
    row->build_id_size = read_build_id(image->build_id, row->build_id);
    atomic_store(&shared->site_count, first + image->site_count);
    atomic_store(&row->state, RH_KEYED_KNOWN);
}

static void write_pairs(struct rh_pairs *pairs, const struct rh_runs_pair *known, size_t count)
{
    uint32_t written = count < RH_MAX_PAIRS ? (uint32_t)count : RH_MAX_PAIRS;
    for (uint32_t i = 0; i < written; i++)
        pairs->at[i] = (struct rh_function_pair){
            .first = known[i].first, .second = known[i].second, .known = known[i].calls};
    atomic_store(&pairs->count, written);
}

static void write_page(struct rh_execution *e, const struct rh_execution_request *request)
{
    struct rh_control *control = &e->page.shared->control;
    for (uint32_t i = 0; i < request->image_count && i < RH_MAX_KEYED; i++)
        write_image(e->page.shared, i, &request->images[i]);
    for (size_t i = 0; i < e->task_count; i++) {
        const struct rh_execution_task *task = &e->tasks[i];
        control->tasks[i] = (struct rh_task){
            .id = (uint32_t)i,
            .stage = task->task.stage,
            .order = task->task.order,
            .pause_us = task->task.pause_us,
            .skip = task->skip,
            .first = task->first,
            .second = task->second,
        };
    }
    write_pairs(&e->page.shared->pairs, request->pairs, request->pair_count);
    control->task_count = (uint32_t)e->task_count;
    atomic_store(&control->generation, 1);
    e->page.shared->version = RH_SHARED_VERSION;
    e->page.shared->magic = RH_SHARED_MAGIC;
}

/* --- the program --- */

static char *make_options(const struct rh_execution *e, const struct rh_execution_request *request)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    const char *given = getenv("RACEHIVE_OPTIONS");
    rh_strbuf_addf(&text, "RACEHIVE_OPTIONS=");
    if (given && *given)
        rh_strbuf_addf(&text, "%s:", given);
    rh_strbuf_addf(&text, "detector=%s:control=%s", request->detector, e->page.path);
    if (*request->options)
        rh_strbuf_addf(&text, ":%s", request->options);
    return rh_strbuf_detach(&text);
}

/* What the caller handles ends the child until it has become the program; what our own parent had
 * us ignore (nohup), the program ignores, too. */
static void stop_handling(void)
{
    static const int handled[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction now;
    for (size_t i = 0; i < sizeof handled / sizeof handled[0]; i++)
        if (sigaction(handled[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            signal(handled[i], SIG_DFL);
}

/* In the child: nothing here may fail half-way without the parent learning of it through `report`,
 * which closes by itself when the program has begun. A parent that is killed cannot end its runs,
 * so they end with it, also if that was a moment ago. */
static void become(const struct rh_execution_request *request, char *options, int report,
                   pid_t parent)
{
    int error = 0;
    if (request->is_apart)
        setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(126);
    stop_handling();
    int nowhere = request->is_quiet ? open("/dev/null", O_WRONLY) : -1;
    if (request->input >= 0)
        dup2(request->input, STDIN_FILENO);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        close(nowhere);
    }
    putenv(options);
    execvp(request->argv[0], (char *const *)(uintptr_t)request->argv);
    error = errno;
    ssize_t written = write(report, &error, sizeof error);
    _exit(written == sizeof error ? 127 : 126);
}

static enum rh_status spawn(struct rh_execution *e, const struct rh_execution_request *request)
{
    int ends[2], error = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return rh_fail_errno(RH_ERR_IO, "cannot run %s", request->argv[0]);
    char *options = make_options(e, request);
    e->began = now_ns();
    pid_t parent = getpid();
    e->pid = fork();
    if (e->pid == 0)
        become(request, options, ends[1], parent);
    int fork_error = errno;
    close(ends[1]);
    free(options);
    ssize_t got = e->pid > 0 ? read(ends[0], &error, sizeof error) : 0;
    close(ends[0]);
    errno = e->pid < 0 ? fork_error : error;
    if (e->pid > 0 && got <= 0)
        return RH_OK;
    if (e->pid > 0)
        waitpid(e->pid, NULL, 0);
    e->pid = 0;
    return rh_fail_errno(errno == ENOENT ? RH_ERR_NOT_FOUND : RH_ERR_IO, "cannot run %s",
                         request->argv[0]);
}

enum rh_status rh_execution_start(const struct rh_execution_request *request,
                                  struct rh_execution **execution)
{
    struct rh_execution *e = rh_calloc(1, sizeof *e);
    e->pid_fd = -1;
    e->is_apart = request->is_apart;
    e->part = request->part;
    e->longest_pause_us = request->longest_pause_us;
    e->task_count = request->task_count < RH_MAX_TASKS ? request->task_count : RH_MAX_TASKS;
    if (e->task_count)
        memcpy(e->tasks, request->tasks, e->task_count * sizeof *e->tasks);
    e->namer = request->namer;
    enum rh_status status = rh_page_make(&e->page);
    if (status == RH_OK) {
        write_page(e, request);
        status = spawn(e, request);
    }
    if (status == RH_OK) {
        e->pid_fd = (int)syscall(SYS_pidfd_open, e->pid, 0);
        if (e->pid_fd < 0)
            status = rh_fail_errno(RH_ERR_UNSUPPORTED, "cannot watch the process");
    }
    if (status != RH_OK) {
        rh_execution_free(e);
        return status;
    }
    *execution = e;
    return RH_OK;
}

void rh_execution_of_page(struct rh_page *page, struct rh_execution_namer namer,
                          struct rh_execution **execution)
{
    struct rh_execution *e = rh_calloc(1, sizeof *e);
    e->pid_fd = -1;
    e->is_over = true;
    e->namer = namer;
    e->page = *page;
    *page = (struct rh_page){0};
    *execution = e;
}

int rh_execution_fd(const struct rh_execution *e)
{
    return e->pid_fd;
}

uint64_t rh_execution_age(const struct rh_execution *e)
{
    return now_ns() - e->began;
}

/* One of the run's other processes, if it runs. */
static pid_t process_at(const struct rh_execution *e, uint32_t i)
{
    pid_t pid = atomic_load(&e->page.shared->processes[i]);
    if (pid <= 0 || pid == e->pid || pid == getpid())
        return 0;
    waitpid(pid, NULL, WNOHANG); /* an orphan is our child, and stays until it is waited for */
    return kill(pid, 0) == 0 ? pid : 0;
}

void rh_execution_signal(const struct rh_execution *e, int signal)
{
    if (e->pid > 0 && !e->is_over)
        kill(e->is_apart ? -e->pid : e->pid, signal);
    for (uint32_t i = 0; e->is_over && i < RH_MAX_PROCESSES; i++) {
        pid_t left = process_at(e, i);
        if (left)
            kill(left, signal);
    }
}

static void reap(struct rh_execution *e)
{
    if (e->is_over)
        return;
    while (waitpid(e->pid, &e->status, 0) < 0 && errno == EINTR)
        continue;
    e->is_over = true;
    e->ended = now_ns();
}

bool rh_execution_lingers(struct rh_execution *e)
{
    reap(e);
    for (uint32_t i = 0; i < RH_MAX_PROCESSES; i++)
        if (process_at(e, i))
            return true;
    return false;
}

/* --- answers --- */

static bool is_steered(const struct rh_execution *e, size_t task)
{
    const struct rh_result *result = &e->page.shared->results[task];
    return atomic_load(&result->seen) & RH_SEEN_STEERED || atomic_load(&result->raced[0]) ||
           atomic_load(&result->raced[1]);
}

/* --- findings --- */

/* That no order was seen proves something only where all synchronisation is seen. */
static bool is_proved(const struct rh_finding *finding)
{
    return finding->proof != RH_PROOF_UNORDERED || !finding->opaque;
}

static bool is_site(struct rh_site_name a, struct rh_site_name b)
{
    return a.image == b.image && a.site == b.site;
}

/* The candidate that two sites are, whether or not the run was asked about it. */
static bool name_pair(const struct rh_execution *e, struct rh_site_name a, struct rh_site_name b,
                      struct rh_execution_name *name)
{
    for (size_t i = 0; i < e->task_count; i++) {
        const struct rh_execution_task *task = &e->tasks[i];
        bool is_straight = is_site(task->first, a) && is_site(task->second, b);
        if (!is_straight && !(is_site(task->first, b) && is_site(task->second, a)))
            continue;
        *name = (struct rh_execution_name){e->part, task->task.candidate, !is_straight};
        return true;
    }
    return e->namer.name && e->namer.name(e->namer.context, a, b, name) &&
           name->part < RH_MAX_KEYED;
}

/* The answer about a candidate: that to a task, or one behind these, which is made if need be. */
static struct rh_runs_answer *answer_about(const struct rh_execution *e,
                                           struct rh_execution_ending *ending,
                                           const struct rh_execution_name *name,
                                           enum rh_race_order order)
{
    struct rh_execution_part *part = &ending->parts[name->part];
    size_t asked = name->part == e->part ? e->task_count : 0;
    for (size_t i = 0; i < asked; i++)
        if (e->tasks[i].task.candidate.id == name->candidate.id)
            return &part->answers.data[i];
    for (size_t i = 0; i < part->found.len; i++)
        if (part->found.data[i].candidate.id == name->candidate.id)
            return &part->answers.data[asked + i];
    const struct rh_runs_task found = {
        .candidate = name->candidate, .stage = RH_STAGE_MEET, .order = order};
    const struct rh_runs_answer none = {0};
    rh_vec_push(&part->found, found);
    rh_vec_push(&part->answers, none);
    return &rh_vec_last(&part->answers);
}

/* Whoever races has met, whether or not the detector keeps count of what meets. */
static struct rh_runs_meeting race_as_meeting(const struct rh_execution_name *name)
{
    struct rh_runs_meeting meeting = {.candidate = name->candidate};
    meeting.counts[RH_MET_UNORDERED] = meeting.counts[RH_MET_UNLOCKED] = 1;
    return meeting;
}

static void read_finding(const struct rh_execution *e, const struct rh_finding *finding,
                         struct rh_execution_ending *ending)
{
    struct rh_execution_name name;
    if (!atomic_load(&finding->ready) || finding->proof >= RH_PROOF_COUNT ||
        !name_pair(e, finding->sides[0].site, finding->sides[1].site, &name)) {
        ending->end.losses[RH_LOSS_FINDING]++;
        return;
    }
    const struct rh_runs_finding kept = {
        .candidate = name.candidate.id,
        .order = name.is_reversed ? RH_ORDER_ALTERNATE : RH_ORDER_PRIMARY,
        .proved = is_proved(finding),
        .finding = *finding,
        .images = e->page.shared->images,
    };
    struct rh_runs_answer *answer = answer_about(e, ending, &name, kept.order);
    if (kept.proved)
        answer->raced[kept.order] = true;
    else
        answer->suspected = true;
    answer->collided |= finding->proof != RH_PROOF_UNORDERED;
    rh_vec_push(&ending->parts[name.part].findings, kept);
    if (name.candidate.second != RH_RUNS_UNINSTRUMENTED)
        rh_vec_push(&ending->parts[name.part].met, race_as_meeting(&name));
}

static void read_findings(const struct rh_execution *e, struct rh_execution_ending *ending)
{
    uint32_t count = atomic_load(&e->page.shared->finding_count);
    for (uint32_t i = 0; i < count && i < RH_MAX_FINDINGS; i++)
        read_finding(e, &e->page.shared->findings[i], ending);
}

/* --- what met, and what ran --- */

static void read_meeting(const struct rh_execution *e, const struct rh_met_pair *pair,
                         struct rh_execution_ending *ending)
{
    uint64_t sites = atomic_load(&pair->sites);
    if (!sites)
        return;
    struct rh_execution_name name;
    struct rh_runs_meeting meeting = {0};
    for (int i = 0; i < RH_MET_COUNTS; i++)
        meeting.counts[i] = atomic_load(&pair->counts[i]);
    /* Each has one of the two, whatever is known of its order. */
    uint64_t meetings = (uint64_t)meeting.counts[RH_MET_LOCKED] + meeting.counts[RH_MET_UNLOCKED];
    if (!name_pair(e, rh_site_name_of(rh_met_first(sites)), rh_site_name_of(rh_met_second(sites)),
                   &name)) {
        ending->end.losses[RH_LOSS_MET_UNNAMED] += meetings;
        return;
    }
    meeting.candidate = name.candidate;
    rh_vec_push(&ending->parts[name.part].met, meeting);
}

static int compare_meetings(const void *a, const void *b)
{
    uint64_t left = ((const struct rh_runs_meeting *)a)->candidate.id;
    uint64_t right = ((const struct rh_runs_meeting *)b)->candidate.id;
    return (left > right) - (left < right);
}

/* Sites that are copies of one another make the same candidate. */
static void merge_meetings(struct rh_execution_part *part)
{
    size_t kept = 0;
    if (part->met.len == 0)
        return;
    qsort(part->met.data, part->met.len, sizeof *part->met.data, compare_meetings);
    for (size_t i = 1; i < part->met.len; i++) {
        struct rh_runs_meeting *last = &part->met.data[kept], *next = &part->met.data[i];
        if (last->candidate.id != next->candidate.id)
            part->met.data[++kept] = *next;
        else
            for (int c = 0; c < RH_MET_COUNTS; c++)
                last->counts[c] += next->counts[c];
    }
    part->met.len = kept + 1;
}

static void read_ran(const struct rh_execution *e, uint32_t image,
                     struct rh_execution_ending *ending)
{
    const struct rh_shared *shared = e->page.shared;
    const struct rh_keyed_image *row = &shared->keyed[image];
    uint32_t part;
    if (atomic_load(&row->state) != RH_KEYED_LOADED || !e->namer.place ||
        !e->namer.place(e->namer.context, image, &part) || part >= RH_MAX_KEYED)
        return;
    for (uint32_t i = 0; i < row->site_count; i++) {
        uint64_t at = (uint64_t)row->first_site + i;
        if (at >= RH_SCOUT_SITES)
            return;
        uint8_t ran = atomic_load_explicit(&shared->scout.ran[at], memory_order_relaxed);
        if (ran > RH_RAN_NOT_SEEN && ran <= RH_RAN_ESCAPED)
            rh_vec_push(&ending->parts[part].ran, (struct rh_runs_ran){i, ran == RH_RAN_THREADS});
        if (ran == RH_RAN_ESCAPED)
            rh_vec_push(&ending->parts[part].escaped,
                        (struct rh_runs_escaped){.site = i, .runs = 1});
    }
}

static void read_sights(const struct rh_execution *e, struct rh_execution_ending *ending)
{
    const struct rh_scout *scout = &e->page.shared->scout;
    for (uint32_t i = 0; i < RH_MET_PAIRS; i++)
        read_meeting(e, &scout->met[i], ending);
    for (uint32_t i = 0; i < RH_MAX_KEYED; i++) {
        merge_meetings(&ending->parts[i]);
        read_ran(e, i, ending);
    }
    ending->end.losses[RH_LOSS_MET_FULL] += atomic_load(&scout->met_lost);
}

/* --- the end --- */

/* A first access that every thread learned of speaks against a race only if the two sites met. */
static bool saw_order(const struct rh_result *result, uint32_t seen)
{
    return atomic_load(&result->ordered[0]) || atomic_load(&result->ordered[1]) ||
           (seen & RH_SEEN_MEET && atomic_load(&result->learned));
}

static void read_pairs(const struct rh_execution *e, struct rh_execution_ending *ending)
{
    const struct rh_pairs *pairs = &e->page.shared->pairs;
    uint32_t count = atomic_load(&pairs->count);
    for (uint32_t i = 0; i < count && i < RH_MAX_PAIRS; i++) {
        const struct rh_function_pair *pair = &pairs->at[i];
        const struct rh_runs_pair seen = {pair->first, pair->second, atomic_load(&pair->seen)};
        if (seen.calls)
            rh_vec_push(&ending->pairs, seen);
    }
}

static void read_answer(const struct rh_execution *e, size_t task, const struct rh_runs_end *end,
                        struct rh_runs_answer *answer)
{
    const struct rh_result *result = &e->page.shared->results[task];
    answer->seen = atomic_load(&result->seen);
    answer->timed_out = atomic_load(&result->timeouts) > 0;
    answer->exhausted = answer->timed_out && e->tasks[task].task.pause_us >= e->longest_pause_us;
    answer->crashed = rh_runs_crashed(end) && is_steered(e, task);
    answer->hung = end->hung && is_steered(e, task);
    for (int i = 0; i < 2; i++)
        answer->executions[i] = atomic_load(&result->executions[i]);
    if (answer->raced[0] || answer->raced[1])
        answer->outcome = RH_OUTCOME_RACE;
    else if (saw_order(result, answer->seen) && !answer->suspected)
        answer->outcome = RH_OUTCOME_NO_RACE;
    else if (answer->timed_out)
        answer->outcome = RH_OUTCOME_TIMEOUT;
    else
        answer->outcome = RH_OUTCOME_NOT_SEEN;
}

/* Of what was found beside the tasks nothing is known but the findings. */
static void read_found(const struct rh_runs_end *end, struct rh_runs_answer *answer)
{
    bool raced = answer->raced[0] || answer->raced[1];
    answer->outcome = raced ? RH_OUTCOME_RACE : RH_OUTCOME_NOT_SEEN;
    answer->crashed = rh_runs_crashed(end);
    answer->hung = end->hung;
}

/* The runtime has told of its start if it is there at all. */
static bool has_started(const struct rh_shared *page)
{
    return atomic_load(&page->ring.head) > 0;
}

static void read_answers(const struct rh_execution *e, struct rh_execution_ending *ending)
{
    for (uint32_t p = 0; p < RH_MAX_KEYED; p++) {
        struct rh_execution_part *part = &ending->parts[p];
        size_t asked = p == e->part ? e->task_count : 0;
        for (size_t i = 0; i < part->answers.len; i++)
            if (i < asked)
                read_answer(e, i, &ending->end, &part->answers.data[i]);
            else
                read_found(&ending->end, &part->answers.data[i]);
    }
}

void rh_execution_finish(struct rh_execution *e, bool hung, struct rh_execution_ending *ending)
{
    *ending = (struct rh_execution_ending){0};
    reap(e);
    ending->started = has_started(e->page.shared);
    ending->end = (struct rh_runs_end){
        .exit_status = WIFEXITED(e->status) ? WEXITSTATUS(e->status) : 0,
        .signal = WIFSIGNALED(e->status) ? WTERMSIG(e->status) : 0,
        .hung = hung,
        .opaque = atomic_load(&e->page.shared->opaque),
        .wall_ns = e->ended - e->began,
        .hook_ns = atomic_load(&e->page.shared->hook_ns),
        .pause_ns = atomic_load(&e->page.shared->pause_ns),
    };
    for (int i = 0; i < RH_LOSS_COUNT; i++)
        ending->end.losses[i] = atomic_load(&e->page.shared->losses[i]);
    for (size_t i = 0; i < e->task_count; i++)
        rh_vec_push(&ending->parts[e->part].answers, (struct rh_runs_answer){0});
    if (e->namer.meet)
        e->namer.meet(e->namer.context, e->page.shared->keyed);
    read_findings(e, ending);
    read_sights(e, ending);
    read_pairs(e, ending);
    read_answers(e, ending);
}

void rh_execution_ending_release(struct rh_execution_ending *ending)
{
    for (uint32_t i = 0; i < RH_MAX_KEYED; i++) {
        struct rh_execution_part *part = &ending->parts[i];
        rh_vec_free(&part->answers);
        rh_vec_free(&part->found);
        rh_vec_free(&part->findings);
        rh_vec_free(&part->met);
        rh_vec_free(&part->ran);
        rh_vec_free(&part->escaped);
    }
    rh_vec_free(&ending->pairs);
}

void rh_execution_free(struct rh_execution *e)
{
    if (e->pid > 0 && !e->is_over) {
        rh_execution_signal(e, SIGKILL);
        waitpid(e->pid, NULL, 0);
    }
    if (e->pid_fd >= 0)
        close(e->pid_fd);
    rh_page_release(&e->page);
    free(e);
}
