/* SPDX-License-Identifier: Apache-2.0 */
/* Children of racehive-ld that overlap, with signals passed on and output held back. */
#include "driver/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const int guarded_signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

#define GUARDED_COUNT (sizeof guarded_signals / sizeof guarded_signals[0])
#define MAX_CHILDREN  4

/* What a signal to the tool means to a child. */
enum fate {
    FATE_SHARE, /* it gets the same signal, unless the terminal has sent it to all already */
    FATE_KILL,
    FATE_SPARE
};

/* A handler may only read atomics, hence a fixed table of the children it deals with. */
static struct {
    atomic_int pid; /* 0: a free place */
    atomic_int fate;
} children[MAX_CHILDREN];
static atomic_int caught;

static void pass_signal(int signal, siginfo_t *info, void *context)
{
    (void)context;
    int saved_errno = errno;
    atomic_store(&caught, signal);
    for (size_t i = 0; i < MAX_CHILDREN; i++) {
        pid_t pid = atomic_load(&children[i].pid);
        int fate = atomic_load(&children[i].fate);
        if (pid > 0 && fate == FATE_KILL)
            kill(pid, SIGKILL);
        else if (pid > 0 && fate == FATE_SHARE && info->si_code != SI_KERNEL)
            kill(pid, signal);
    }
    errno = saved_errno;
}

void rh_child_guard(void)
{
    struct sigaction passing = {.sa_sigaction = pass_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&passing.sa_mask);
    for (size_t i = 0; i < GUARDED_COUNT; i++) {
        struct sigaction old;
        sigaction(guarded_signals[i], NULL, &old);
        if (old.sa_handler == SIG_DFL)
            sigaction(guarded_signals[i], &passing, NULL);
    }
}

int rh_child_interrupted(void)
{
    return atomic_load(&caught);
}

void rh_child_end_by_signal(void)
{
    int number = rh_child_interrupted();
    if (number == 0)
        return;
    signal(number, SIG_DFL);
    raise(number);
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_all(struct rh_child *child)
{
    close_end(&child->out);
    close_end(&child->err);
    close_end(&child->from);
    close_end(&child->to);
}

/* The descriptors that a child gets as its standard ones; -1: the tool's own. */
struct standard {
    int fds[3];
};

static bool open_hold(int *held)
{
    *held = memfd_create("racehive-held", MFD_CLOEXEC);
    return *held >= 0;
}

static bool open_pipe(int *read_end, int *write_end)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    *read_end = ends[0];
    *write_end = ends[1];
    return true;
}

static bool open_streams(struct rh_child *child, enum rh_child_mode mode, struct standard *standard)
{
    if (!open_hold(&child->err))
        return false;
    standard->fds[2] = child->err;
    if (mode == RH_CHILD_TALK)
        return open_pipe(&child->from, &standard->fds[1]) &&
               open_pipe(&standard->fds[0], &child->to);
    bool opened = open_hold(&child->out);
    standard->fds[1] = child->out;
    return opened;
}

static int spawn(const struct rh_wordlist *argv, const struct standard *standard,
                 const sigset_t *mask, pid_t *pid)
{
    struct rh_wordlist words = RH_VEC_INIT;
    rh_vec_each (const char *, word, argv)
        rh_vec_push(&words, *word);
    rh_vec_push(&words, NULL);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (!error)
        error = posix_spawnattr_setsigmask(&attributes, mask);
    for (int i = 0; !error && i < 3; i++)
        if (standard->fds[i] >= 0)
            error = posix_spawn_file_actions_adddup2(&actions, standard->fds[i], i);
    /* posix_spawn takes an array of writable strings for history's sake and writes to none. */
    char **writable = (char **)(void *)words.data;
    if (!error)
        error = posix_spawnp(pid, writable[0], &actions, &attributes, writable, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    rh_vec_free(&words);
    return error;
}

static int claim_place(void)
{
    for (int i = 0; i < MAX_CHILDREN; i++)
        if (atomic_load(&children[i].pid) == 0)
            return i;
    return -1;
}

/*
 * The signals wait while the child is made, so that none falls between its start and its entry in
 * the table. A child that is talked to keeps them blocked.
 */
static int spawn_guarded(struct rh_child *child, const struct rh_wordlist *argv,
                         const struct standard *standard, enum rh_child_mode mode)
{
    sigset_t guarded, before, blocked;
    sigemptyset(&guarded);
    for (size_t i = 0; i < GUARDED_COUNT; i++)
        sigaddset(&guarded, guarded_signals[i]);
    sigprocmask(SIG_BLOCK, &guarded, &before);
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    pid_t pid;
    int error = rh_child_interrupted() ? EINTR : 0;
    if (!error)
        error = spawn(argv, standard, mode == RH_CHILD_TALK ? &blocked : &before, &pid);
    if (!error) {
        atomic_store(&children[child->place].fate, mode == RH_CHILD_TALK ? FATE_KILL : FATE_SHARE);
        atomic_store(&children[child->place].pid, pid);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error;
}

void rh_child_spare(struct rh_child *child)
{
    atomic_store(&children[child->place].fate, FATE_SPARE);
}

enum rh_status rh_child_start(struct rh_child *child, const struct rh_wordlist *argv,
                              enum rh_child_mode mode)
{
    *child = (struct rh_child){claim_place(), -1, -1, -1, -1};
    if (child->place < 0)
        return rh_fail(RH_ERR_INTERNAL, "too many child processes");
    struct standard standard = {{-1, -1, -1}};
    int error = open_streams(child, mode, &standard) ? 0 : errno;
    if (!error)
        error = spawn_guarded(child, argv, &standard, mode);
    if (mode == RH_CHILD_TALK) {
        close_end(&standard.fds[0]);
        close_end(&standard.fds[1]);
    }
    if (!error)
        return RH_OK;
    close_all(child);
    errno = error;
    return rh_fail_errno(error == ENOENT ? RH_ERR_NOT_FOUND : RH_ERR_IO, "cannot run %s",
                         argv->data[0]);
}

enum rh_status rh_child_read_line(struct rh_child *child, struct rh_strbuf *line)
{
    for (;;) {
        char c;
        ssize_t n = read(child->from, &c, 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return rh_fail(RH_ERR_INPUT, "the child process sent no more output");
        if (c == '\n')
            return RH_OK;
        rh_strbuf_addc(line, c);
    }
}

enum rh_status rh_child_write(struct rh_child *child, const char *text)
{
    /* A child that is gone must be an error here, not a signal. */
    struct sigaction ignoring = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGPIPE, &ignoring, &before);
    size_t len = strlen(text), done = 0;
    while (done < len) {
        ssize_t n = write(child->to, text + done, len - done);
        if (n < 0 && errno != EINTR)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    sigaction(SIGPIPE, &before, NULL);
    return done == len ? RH_OK : rh_fail_errno(RH_ERR_IO, "cannot write to the child process");
}

static void add_held(int fd, struct rh_strbuf *into)
{
    char bytes[4096];
    off_t at = 0;
    ssize_t n;
    while (fd >= 0 && (n = pread(fd, bytes, sizeof bytes, at)) > 0) {
        rh_strbuf_addn(into, bytes, (size_t)n);
        at += n;
    }
}

/* The child leaves the table before it is reaped: until then its id cannot be another's. */
static enum rh_status reap(struct rh_child *child, struct rh_child_end *end)
{
    pid_t pid = atomic_load(&children[child->place].pid);
    siginfo_t info;
    int status, error;
    do
        error = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    while (error != 0 && errno == EINTR);
    atomic_store(&children[child->place].pid, 0);
    if (error != 0 || waitpid(pid, &status, 0) < 0)
        return rh_fail_errno(RH_ERR_IO, "cannot wait for a child process");
    if (WIFSIGNALED(status))
        end->signal = WTERMSIG(status);
    else
        end->exit_status = WEXITSTATUS(status);
    return RH_OK;
}

enum rh_status rh_child_wait(struct rh_child *child, struct rh_child_end *end,
                             struct rh_strbuf *out, struct rh_strbuf *err)
{
    *end = (struct rh_child_end){0};
    close_end(&child->to);
    close_end(&child->from);
    enum rh_status status = reap(child, end);
    end->interrupted = rh_child_interrupted();
    add_held(child->out, out);
    add_held(child->err, err);
    close_all(child);
    return status;
}

enum rh_status rh_child_check(const struct rh_child_end *end, const char *what)
{
    if (end->signal)
        return rh_fail(RH_ERR_INPUT, "%s was killed by signal %d (%s)", what, end->signal,
                       strsignal(end->signal));
    if (end->exit_status)
        return rh_fail(RH_ERR_INPUT, "%s ended with exit status %d", what, end->exit_status);
    return RH_OK;
}

int rh_child_exit_status(const struct rh_child_end *end)
{
    return end->signal ? 128 + end->signal : end->exit_status;
}
