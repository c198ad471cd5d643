/* Child processes by posix_spawn, with capture and with signals passed on. */
#define _GNU_SOURCE 1
#include "base/proc.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed_signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

#define PASSED_COUNT (sizeof passed_signals / sizeof passed_signals[0])
#define MAX_CHILDREN 256

/* A handler may only read atomics, hence a fixed table of the children it passes signals to. */
static atomic_int children[MAX_CHILDREN];
static atomic_int caught;

/* Handlers are in place while anyone runs a child; the first in installs, the last out restores. */
static pthread_mutex_t guard_lock = PTHREAD_MUTEX_INITIALIZER;
static size_t guard_users;
static struct sigaction guard_saved[PASSED_COUNT];

static void pass_signal(int signal, siginfo_t *info, void *context)
{
    (void)context;
    int saved_errno = errno;
    atomic_store(&caught, signal);
    for (size_t i = 0; info->si_code != SI_KERNEL && i < MAX_CHILDREN; i++) {
        pid_t pid = atomic_load(&children[i]);
        if (pid > 0)
            kill(pid, signal);
    }
    errno = saved_errno;
}

static void enter_guard(void)
{
    pthread_mutex_lock(&guard_lock);
    if (guard_users++ == 0) {
        struct sigaction passing = {.sa_sigaction = pass_signal, .sa_flags = SA_SIGINFO};
        passing.sa_flags |= SA_RESTART;
        sigemptyset(&passing.sa_mask);
        atomic_store(&caught, 0);
        for (size_t i = 0; i < PASSED_COUNT; i++) {
            sigaction(passed_signals[i], NULL, &guard_saved[i]);
            if (guard_saved[i].sa_handler == SIG_DFL)
                sigaction(passed_signals[i], &passing, NULL);
        }
    }
    pthread_mutex_unlock(&guard_lock);
}

static void leave_guard(void)
{
    pthread_mutex_lock(&guard_lock);
    if (--guard_users == 0)
        for (size_t i = 0; i < PASSED_COUNT; i++)
            if (guard_saved[i].sa_handler == SIG_DFL)
                sigaction(passed_signals[i], &guard_saved[i], NULL);
    pthread_mutex_unlock(&guard_lock);
}

/* Claims a place in the table with a mark that is no process id; NULL when all are taken. */
static atomic_int *claim_child(void)
{
    for (size_t i = 0; i < MAX_CHILDREN; i++) {
        int expected = 0;
        if (atomic_compare_exchange_strong(&children[i], &expected, -1))
            return &children[i];
    }
    return NULL;
}

/* One captured stream: the ends of its pipe, -1 when closed or not captured. */
struct capture {
    struct rh_strbuf *into;
    int read_end;
    int write_end;
};

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static enum rh_status open_capture(struct capture *capture, struct rh_strbuf *into)
{
    *capture = (struct capture){into, -1, -1};
    if (!into)
        return RH_OK;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return rh_fail_errno(RH_ERR_IO, "cannot make a pipe");
    capture->read_end = ends[0];
    capture->write_end = ends[1];
    return RH_OK;
}

static void close_captures(struct capture captures[2])
{
    for (size_t i = 0; i < 2; i++) {
        close_end(&captures[i].read_end);
        close_end(&captures[i].write_end);
    }
}

/* Two streams into one strbuf share one pipe, which keeps them in the order they were written. */
static enum rh_status open_captures(const struct rh_proc *proc, struct capture captures[2])
{
    bool shared = proc->out && proc->out == proc->err;
    captures[1] = (struct capture){NULL, -1, -1};
    enum rh_status status = open_capture(&captures[0], proc->out);
    if (status == RH_OK)
        status = open_capture(&captures[1], shared ? NULL : proc->err);
    if (status != RH_OK)
        close_captures(captures);
    return status;
}

/* Reads what is there; closes the pipe at its end. */
static enum rh_status drain(struct capture *capture)
{
    rh_strbuf_reserve(capture->into, 65536);
    struct rh_strbuf *into = capture->into;
    ssize_t n = read(capture->read_end, into->data + into->len, into->cap - into->len - 1);
    if (n < 0)
        return errno == EINTR ? RH_OK : rh_fail_errno(RH_ERR_IO, "cannot read a child's output");
    if (n == 0)
        close_end(&capture->read_end);
    into->len += (size_t)n;
    into->data[into->len] = '\0';
    return RH_OK;
}

/* Reads both pipes as they fill, since a child blocks on a full one while we wait at the other. */
static enum rh_status drain_all(struct capture captures[2])
{
    enum rh_status status = RH_OK;
    while (status == RH_OK && (captures[0].read_end >= 0 || captures[1].read_end >= 0)) {
        struct pollfd polled[2] = {{.fd = captures[0].read_end, .events = POLLIN},
                                   {.fd = captures[1].read_end, .events = POLLIN}};
        if (poll(polled, 2, -1) < 0) {
            if (errno != EINTR)
                status = rh_fail_errno(RH_ERR_IO, "cannot wait for a child's output");
            continue;
        }
        for (size_t i = 0; status == RH_OK && i < 2; i++)
            if (polled[i].revents)
                status = drain(&captures[i]);
    }
    return status;
}

struct string_list RH_VEC_BODY(char *);

static bool is_overridden(const char *entry, const char *const *env)
{
    size_t len = strcspn(entry, "=") + 1;
    for (; *env; env++)
        if (strncmp(entry, *env, len) == 0)
            return true;
    return false;
}

/* posix_spawn takes arrays of writable strings, though it writes to none: the list is a copy. */
static void add_string(struct string_list *list, const char *text)
{
    char *writable;
    memcpy(&writable, &text, sizeof writable);
    rh_vec_push(list, writable);
}

static void build_environment(struct string_list *list, const char *const *env)
{
    for (char **entry = environ; entry && *entry; entry++)
        if (!env || !is_overridden(*entry, env))
            rh_vec_push(list, *entry);
    for (; env && *env; env++)
        add_string(list, *env);
    rh_vec_push(list, NULL);
}

static int spawn_child(const struct rh_proc *proc, const char *program,
                       const struct capture captures[2], const sigset_t *mask, pid_t *pid)
{
    struct string_list argv = RH_VEC_INIT, env = RH_VEC_INIT;
    for (const char *const *arg = proc->argv; *arg; arg++)
        add_string(&argv, *arg);
    rh_vec_push(&argv, NULL);
    build_environment(&env, proc->env);

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (!error)
        error = posix_spawnattr_setsigmask(&attributes, mask);
    const int targets[] = {STDOUT_FILENO, STDERR_FILENO};
    for (size_t i = 0; !error && i < 2; i++)
        if (captures[i].into)
            error = posix_spawn_file_actions_adddup2(&actions, captures[i].write_end, targets[i]);
    if (!error && proc->out && proc->out == proc->err)
        error = posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    if (!error)
        error = posix_spawn(pid, program, &actions, &attributes, argv.data, env.data);

    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    rh_vec_free(&env);
    rh_vec_free(&argv);
    return error;
}

/*
 * The signals wait while the child is made, so that none falls between its start and its entry in
 * the table; the child itself gets the mask that was there before.
 */
static int start_child(const struct rh_proc *proc, const char *program,
                       const struct capture captures[2], atomic_int *place)
{
    sigset_t passed, before;
    sigemptyset(&passed);
    for (size_t i = 0; i < PASSED_COUNT; i++)
        sigaddset(&passed, passed_signals[i]);
    pthread_sigmask(SIG_BLOCK, &passed, &before);
    pid_t pid;
    int error = spawn_child(proc, program, captures, &before, &pid);
    if (!error)
        atomic_store(place, pid);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/*
 * PATH is searched here because posix_spawnp says "permission denied" of a program that is nowhere
 * when PATH names a folder that may not be searched.
 */
static enum rh_status find_and_start(const struct rh_proc *proc, const struct capture captures[2],
                                     atomic_int *place)
{
    const char *name = proc->argv[0];
    char *program = NULL;
    enum rh_status status = RH_OK;
    if (strchr(name, '/'))
        program = rh_strdup(name);
    else
        status = rh_path_which(name, &program);
    if (status != RH_OK)
        return status;
    int error = start_child(proc, program, captures, place);
    free(program);
    if (!error)
        return RH_OK;
    errno = error;
    return rh_fail_errno(error == ENOENT ? RH_ERR_NOT_FOUND : RH_ERR_IO, "cannot run %s", name);
}

/* The child leaves the table before it is reaped: until then its id cannot be another's. */
static enum rh_status reap_child(atomic_int *place, struct rh_proc_result *result)
{
    pid_t pid = atomic_load(place);
    siginfo_t info;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0)
        if (errno != EINTR)
            return rh_fail_errno(RH_ERR_IO, "cannot wait for a child");
    atomic_store(place, -1);
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return rh_fail_errno(RH_ERR_IO, "cannot wait for a child");
    if (WIFSIGNALED(status))
        result->signal = WTERMSIG(status);
    else
        result->exit_status = WEXITSTATUS(status);
    return RH_OK;
}

static enum rh_status run_in_place(const struct rh_proc *proc, atomic_int *place,
                                   struct rh_proc_result *result)
{
    struct capture captures[2];
    enum rh_status status = open_captures(proc, captures);
    if (status != RH_OK)
        return status;
    status = find_and_start(proc, captures, place);
    if (status == RH_OK) {
        close_end(&captures[0].write_end);
        close_end(&captures[1].write_end);
        enum rh_status read_status = drain_all(captures);
        close_captures(captures);
        status = reap_child(place, result);
        if (status == RH_OK)
            status = read_status;
    }
    close_captures(captures);
    return status;
}

enum rh_status rh_proc_run(const struct rh_proc *proc, struct rh_proc_result *result)
{
    *result = (struct rh_proc_result){0};
    atomic_int *place = claim_child();
    if (!place)
        return rh_fail(RH_ERR_INTERNAL, "cannot run %s: %d children run already", proc->argv[0],
                       MAX_CHILDREN);
    enter_guard();
    enum rh_status status = run_in_place(proc, place, result);
    result->interrupted = atomic_load(&caught);
    leave_guard();
    atomic_store(place, 0);
    return status;
}

enum rh_status rh_proc_check(const struct rh_proc_result *result, const char *what)
{
    if (result->signal)
        return rh_fail(RH_ERR_INPUT, "%s was killed by signal %d (%s)", what, result->signal,
                       strsignal(result->signal));
    if (result->exit_status)
        return rh_fail(RH_ERR_INPUT, "%s ended with exit status %d", what, result->exit_status);
    return RH_OK;
}

int rh_proc_exit_status(const struct rh_proc_result *result)
{
    return result->signal ? 128 + result->signal : result->exit_status;
}
