/* SPDX-License-Identifier: Apache-2.0 */
/* A whole test suite under a detector: see suite.h. */
#include "campaign/suite.h"

#include "agent/page.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct suite {
    const struct rh_suite_options *options;
    struct rh_suite_result *result;
    char *folder;
    RH_VEC(char *) refused; /* programs that could not be opened, said once each */
};

/* --- the command --- */

static enum rh_status make_folder(struct suite *s)
{
    const char *temporary = getenv("TMPDIR");
    struct rh_strbuf path = RH_STRBUF_INIT;
    rh_strbuf_addf(&path, "%s/racehive-test.XXXXXX", temporary && *temporary ? temporary : "/tmp");
    s->folder = rh_strbuf_detach(&path);
    if (mkdtemp(s->folder))
        return RH_OK;
    return rh_fail_errno(RH_ERR_IO, "cannot make the folder %s", s->folder);
}

static void set_options(const struct suite *s)
{
    const char *given = getenv("RACEHIVE_OPTIONS");
    struct rh_strbuf text = RH_STRBUF_INIT;
    rh_strbuf_addf(&text, "%s%sdetector=%s:pages=%s", given ? given : "",
                   given && *given ? ":" : "", s->options->detector, s->folder);
    setenv("RACEHIVE_OPTIONS", rh_strbuf_text(&text), 1);
    rh_strbuf_release(&text);
}

static void become(const struct suite *s)
{
    set_options(s);
    execvp(s->options->argv[0], (char *const *)(uintptr_t)s->options->argv);
    rh_log_error("cannot run %s: %s", s->options->argv[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

/* Like system(3): who interrupts means the command, and its end is waited for. */
static enum rh_status run_command(struct suite *s)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        become(s);
    if (pid < 0)
        return rh_fail_errno(RH_ERR_IO, "cannot start %s", s->options->argv[0]);
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    s->result->exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return RH_OK;
}

/* --- programs --- */

static struct rh_process *find_program(const struct suite *s, const char *path)
{
    rh_vec_each (struct rh_process *, p, &s->result->programs)
        if (strcmp(rh_process_at(*p, 0)->path, path) == 0)
            return *p;
    return NULL;
}

static bool was_refused(const struct suite *s, const char *path)
{
    rh_vec_each (char *, p, &s->refused)
        if (strcmp(*p, path) == 0)
            return true;
    return false;
}

/* The first program has the store that was asked for, others have theirs beside it. */
static char *choose_store(const struct suite *s, const char *path)
{
    if (!s->options->store)
        return NULL;
    struct rh_strbuf store = RH_STRBUF_INIT;
    char *name = rh_path_basename(path);
    rh_strbuf_add(&store, s->options->store);
    if (s->result->programs.len)
        rh_strbuf_addf(&store, ".%s", name);
    free(name);
    return rh_strbuf_detach(&store);
}

/* NULL if the program's runs cannot be kept: said once. */
static struct rh_process *open_program(struct suite *s, const char *path)
{
    struct rh_process *process = find_program(s, path);
    if (process || was_refused(s, path))
        return process;
    char *store = choose_store(s, path);
    const struct rh_process_options options = {
        .detector = s->options->detector, .store = store, .pool = {.method = RH_POOL_ORDER}};
    if (rh_process_open(path, &options, &process) == RH_OK) {
        rh_vec_push(&s->result->programs, process);
    } else {
        rh_log_warn("what %s found is not kept: %s", path, rh_error_text());
        rh_vec_push(&s->refused, rh_strdup(path));
        process = NULL;
    }
    free(store);
    return process;
}

/* --- pages --- */

static enum rh_status keep_page(struct suite *s, struct rh_page *page)
{
    static const struct rh_assignment nothing;
    struct rh_process *process = open_program(s, page->shared->program);
    if (!process)
        return RH_OK;
    uint64_t run;
    struct rh_execution *execution;
    struct rh_execution_ending ending;
    enum rh_status status = rh_runs_begin(rh_process_at(process, 0)->runs, 0, NULL, 0, &run);
    if (status != RH_OK)
        return status;
    rh_execution_of_page(page, rh_process_namer(process), &execution);
    rh_execution_finish(execution, false, &ending);
    for (int i = 0; i < RH_LOSS_COUNT; i++)
        s->result->losses[i] += ending.end.losses[i];
    s->result->processes++;
    status = rh_process_keep(process, 0, run, &nothing, &ending);
    rh_execution_ending_release(&ending);
    rh_execution_free(execution);
    return status;
}

static enum rh_status keep_pages(struct suite *s)
{
    enum rh_status status = RH_OK;
    DIR *folder = opendir(s->folder);
    for (struct dirent *entry; status == RH_OK && folder && (entry = readdir(folder));) {
        struct rh_strbuf path = RH_STRBUF_INIT;
        struct rh_page page;
        rh_strbuf_addf(&path, "%s/%s", s->folder, entry->d_name);
        if (entry->d_name[0] != '.' && rh_page_open(rh_strbuf_text(&path), &page) == RH_OK) {
            status = keep_page(s, &page);
            rh_page_release(&page);
        }
        rh_strbuf_release(&path);
    }
    if (folder)
        closedir(folder);
    return status;
}

enum rh_status rh_suite_run(const struct rh_suite_options *options, struct rh_suite_result *result)
{
    struct suite s = {.options = options, .result = result};
    *result = (struct rh_suite_result){0};
    enum rh_status status = make_folder(&s);
    if (status == RH_OK)
        status = run_command(&s);
    if (status == RH_OK)
        status = keep_pages(&s);
    if (s.folder)
        rh_fs_remove_tree(s.folder);
    rh_vec_each (char *, path, &s.refused)
        free(*path);
    rh_vec_free(&s.refused);
    free(s.folder);
    return status;
}

void rh_suite_release(struct rh_suite_result *result)
{
    rh_vec_each (struct rh_process *, p, &result->programs)
        rh_process_close(*p);
    rh_vec_free(&result->programs);
}
