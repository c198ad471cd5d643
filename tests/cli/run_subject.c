/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of `racehive run` execute: a program with one race, which does as its first
 * argument says. Every mode leaves a line with its process id in the file $SUBJECT_LOG, so that a
 * test knows what ran.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int shared;
static volatile int *nowhere;

static void *change(void *arg)
{
    for (int i = 0; i < 100; i++) {
        shared++;
        usleep(100);
    }
    return arg;
}

static void race(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, change, NULL))
            abort();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

/* In one piece, whoever writes at the same time. */
static void leave(const char *text)
{
    char line[256];
    const char *path = getenv("SUBJECT_LOG");
    int length = snprintf(line, sizeof line, "%d %s\n", (int)getpid(), text);
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0666) : -1;
    if (fd >= 0 && write(fd, line, (size_t)length) != length)
        abort();
    if (fd >= 0)
        close(fd);
}

static void read_input(void)
{
    unsigned long sum = 0, count = 0;
    char line[64];
    for (int c; (c = getchar()) != EOF; count++)
        sum = sum * 31 + (unsigned long)c;
    snprintf(line, sizeof line, "read %lu %lx", count, sum);
    leave(line);
}

static void on_fault(int number)
{
    (void)number;
    leave("handled");
    _exit(42);
}

static void handle_fault(void)
{
    struct sigaction action = {.sa_handler = on_fault};
    sigaction(SIGSEGV, &action, NULL);
    *nowhere = 1;
}

static void fault(void)
{
    *nowhere = 1;
}

static void kill_self(void)
{
    race();
    kill(getpid(), SIGKILL);
}

static void wait_long(void)
{
    race();
    leave("waits");
    sleep(600);
}

static void race_in_child(void)
{
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            race();
            leave("child");
            exit(0);
        }
    race();
    while (wait(NULL) > 0)
        continue;
}

static void become_another(void)
{
    race();
    execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
    abort();
}

static void become_itself(void)
{
    execl("/proc/self/exe", "subject", "race", (char *)NULL);
    abort();
}

/* As daemons of old did it. */
static void become_daemon(void)
{
    if (fork())
        return;
    setsid();
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    race();
    leave("daemon");
    _exit(0);
}

static void close_all(void)
{
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    race();
    leave("closed");
    _exit(3);
}

/* No more memory than there is. */
static void limit_memory(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_AS, &limit);
    for (int i = 0; i < 1000; i++) {
        shared++;
        free(malloc(16));
    }
    leave("limited");
}

static void print(void)
{
    printf("to standard output\n");
    fprintf(stderr, "to standard error\n");
}

static void do_nothing(void)
{
}

static const struct {
    const char *name;
    void (*work)(void);
} modes[] = {
    {"nothing", do_nothing},   {"race", race},           {"print", print},
    {"read", read_input},      {"handle", handle_fault}, {"fault", fault},
    {"abort", abort},          {"kill", kill_self},      {"wait", wait_long},
    {"fork", race_in_child},   {"exec", become_another}, {"exec-self", become_itself},
    {"daemon", become_daemon}, {"close", close_all},     {"limit", limit_memory},
};

/* SUBJECT MODE [STATUS] */
int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "race";
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(mode, modes[i].name) == 0) {
            leave(mode);
            modes[i].work();
        }
    return argc > 2 ? atoi(argv[2]) : 0;
}
