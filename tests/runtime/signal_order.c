/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals and children: a handler comes after the sender of its signal, whichever call sent it and
 * whether to the thread or to the process, after the thread that installed it, and after the one
 * that set its timer. A thread that waits for a signal comes after its sender; one that waits for a
 * child comes after the child.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "intercept/real.h"
#include "sys.h"

extern char **environ;

static uint32_t last_value;
static pthread_t main_thread;
static _Atomic uint32_t handled; /* the value that the handler's thread must know */

/* What a handler finds is looked at in the handler: here it only counts if it is right. */
static _Atomic uint32_t expected;

static void handle(int signal)
{
    (void)signal;
    int kept = errno;
    uint32_t value = atomic_load(&expected);
    CHECK_KNOWS(1, value);
    atomic_store(&handled, value);
    errno = kept;
}

static void wait_until_handled(uint32_t value)
{
    while (atomic_load(&handled) != value)
        sched_yield();
}

/* --- sending --- */

static void send_kill(void)
{
    CHECK(kill(getpid(), SIGUSR1) == 0);
}

static void send_group(void)
{
    CHECK(kill(0, SIGUSR1) == 0);
}

static void send_killpg(void)
{
    CHECK(killpg(getpgrp(), SIGUSR1) == 0);
}

static void send_queue(void)
{
    CHECK(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 1}) == 0);
}

static void send_to_thread(void)
{
    CHECK(pthread_kill(main_thread, SIGUSR1) == 0);
}

static void queue_to_thread(void)
{
    CHECK(pthread_sigqueue(main_thread, SIGUSR1, (union sigval){.sival_int = 1}) == 0);
}

static void send_by_number(void)
{
    CHECK(tgkill(getpid(), getpid(), SIGUSR1) == 0);
}

static void *send_in_thread(void *send)
{
    sigset_t all;
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
    harness_tell(1, atomic_load(&expected));
    (*(void (**)(void))send)();
    return NULL;
}

static void check_send(void (*send)(void))
{
    pthread_t thread;
    atomic_store(&expected, ++last_value);
    CHECK(pthread_create(&thread, NULL, send_in_thread, &send) == 0);
    wait_until_handled(last_value);
    CHECK(pthread_join(thread, NULL) == 0);
    harness_forget();
}

static void test_sends(void)
{
    static void (*const sends[])(void) = {send_kill,       send_queue,     send_to_thread,
                                          queue_to_thread, send_by_number, send_group,
                                          send_killpg};
    struct sigaction action = {.sa_handler = handle};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    /* Not to those who run the tests. */
    CHECK(setpgid(0, 0) == 0 || getpgrp() == getpid());
    for (size_t i = 0; i < sizeof sends / sizeof sends[0]; i++)
        check_send(sends[i]);
}

static void test_results(void)
{
    harness_forget();
    CHECK(kill(getpid(), 0) == 0 && pthread_kill(main_thread, 0) == 0);
    CHECK(tgkill(getpid(), getpid(), 0) == 0);
    EXPECT_NOTHING();
    CHECK(kill(getpid(), 12345) == -1 && errno == EINVAL);
    CHECK(pthread_kill(main_thread, 12345) == EINVAL);
    harness_forget();
    CHECK(kill(getpid(), SIGUSR1) == 0);
    EXPECT({RT_SYNC_SIGNAL_SEND, NULL});
    CHECK(pthread_kill(main_thread, SIGUSR1) == 0);
    EXPECT({RT_SYNC_SIGNAL_SEND, rt_thread_object(1)});
}

/* --- waiting for a signal --- */

static void block(int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
}

static void wait_plainly(const sigset_t *set)
{
    int signal;
    CHECK(sigwait(set, &signal) == 0 && signal == SIGUSR2);
}

static void wait_with_info(const sigset_t *set)
{
    siginfo_t info;
    CHECK(sigwaitinfo(set, &info) == SIGUSR2);
}

static void wait_by_read(const sigset_t *set)
{
    struct signalfd_siginfo info;
    int fd = signalfd(-1, set, 0);
    CHECK(fd >= 0 && read(fd, &info, sizeof info) == sizeof info && close(fd) == 0);
}

static void *send_other_in_thread(void *arg)
{
    (void)arg;
    harness_tell(1, last_value);
    CHECK(kill(getpid(), SIGUSR2) == 0);
    return NULL;
}

static void check_wait(void (*wait)(const sigset_t *))
{
    sigset_t set;
    pthread_t thread;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    ++last_value;
    CHECK(pthread_create(&thread, NULL, send_other_in_thread, NULL) == 0);
    wait(&set);
    CHECK_KNOWS(1, last_value);
    CHECK(pthread_join(thread, NULL) == 0);
    harness_forget();
}

static void test_waits(void)
{
    block(SIGUSR2);
    check_wait(wait_plainly);
    check_wait(wait_with_info);
    check_wait(wait_by_read);
}

/* --- handlers that are set up, and timers, by another thread --- */

static void set_by_sigaction(void)
{
    struct sigaction action = {.sa_handler = handle};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(RT_REAL(kill)(getpid(), SIGALRM) == 0);
}

static void set_by_signal(void)
{
    CHECK(signal(SIGALRM, handle) != SIG_ERR);
    CHECK(RT_REAL(kill)(getpid(), SIGALRM) == 0);
}

static void set_interval(void)
{
    const struct itimerval soon = {.it_value.tv_usec = 1000};
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
}

static void set_timer(void)
{
    const struct itimerspec soon = {.it_value.tv_nsec = 1000000};
    timer_t timer;
    CHECK(timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0);
    CHECK(timer_settime(timer, 0, &soon, NULL) == 0);
}

static void set_alarm(void)
{
    CHECK(alarm(1) == 0 && alarm(1) == 1);
}

static void test_set_up(void)
{
    check_send(set_by_sigaction);
    check_send(set_by_signal);
    check_send(set_interval);
    check_send(set_timer);
    check_send(set_alarm);
    CHECK(signal(SIGALRM, SIG_DFL) == handle);
    CHECK(signal(12345, handle) == SIG_ERR && errno == EINVAL);
}

/* --- children --- */

static char *const arguments[] = {(char *)(uintptr_t) "true", NULL};

static void make_by_fork(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    CHECK(child > 0);
}

static void make_by_spawn(void)
{
    pid_t child;
    CHECK(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) == 0);
}

static void make_by_spawnp(void)
{
    pid_t child;
    CHECK(posix_spawnp(&child, "true", NULL, NULL, arguments, environ) == 0);
}

static pid_t wait_any(int *status)
{
    return wait(status);
}

static pid_t wait_by_waitpid(int *status)
{
    return waitpid(-1, status, 0);
}

static pid_t wait_by_wait3(int *status)
{
    struct rusage use;
    return wait3(status, 0, &use);
}

static pid_t wait_by_wait4(int *status)
{
    return wait4(-1, status, 0, NULL);
}

static pid_t wait_by_waitid(int *status)
{
    siginfo_t info;
    CHECK(waitid(P_ALL, 0, &info, WEXITED) == 0);
    *status = info.si_status;
    return info.si_pid;
}

static void *make_in_thread(void *make)
{
    harness_tell(1, last_value);
    (*(void (**)(void))make)();
    return NULL;
}

static void check_child(void (*make)(void), pid_t (*wait_for)(int *))
{
    pthread_t thread;
    int status = -1;
    siginfo_t info;
    ++last_value;
    CHECK(pthread_create(&thread, NULL, make_in_thread, &make) == 0);
    /* Until there is one. */
    while (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == -1)
        CHECK(errno == ECHILD);
    CHECK(wait_for(&status) > 0 && status == 0);
    CHECK_KNOWS(1, last_value);
    CHECK(pthread_join(thread, NULL) == 0);
    harness_forget();
}

static void test_children(void)
{
    check_child(make_by_fork, wait_any);
    check_child(make_by_fork, wait_by_waitpid);
    check_child(make_by_fork, wait_by_wait3);
    check_child(make_by_spawn, wait_by_wait4);
    check_child(make_by_spawnp, wait_by_waitid);
    harness_forget();
    CHECK(waitpid(-1, NULL, 0) == -1 && errno == ECHILD);
    EXPECT_NOTHING();
    pid_t none;
    CHECK(posix_spawn(&none, "/nonexistent", NULL, NULL, arguments, environ) == ENOENT);
    CHECK(system("exit 3") == 3 << 8);
    CHECK(system(NULL) != 0);
}

/* The end of a child that another thread has killed. */
static pid_t victim;

static void kill_child(void)
{
    CHECK(kill(victim, SIGKILL) == 0);
}

static void test_killed(void)
{
    pthread_t thread;
    int status;
    void (*make)(void) = kill_child;
    victim = fork();
    if (victim == 0)
        for (;;)
            pause();
    ++last_value;
    CHECK(pthread_create(&thread, NULL, make_in_thread, &make) == 0);
    CHECK(waitpid(victim, &status, 0) == victim && WTERMSIG(status) == SIGKILL);
    CHECK_KNOWS(1, last_value);
    CHECK(pthread_join(thread, NULL) == 0);
}

int main(void)
{
    main_thread = pthread_self();
    harness_forget();
    test_sends();
    test_results();
    test_waits();
    test_set_up();
    test_children();
    test_killed();
    return 0;
}
