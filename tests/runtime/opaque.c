/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes a process opaque is noted: streams on pipes and sockets, threads of libc's own, and
 * libraries without keys, but not the system's.
 */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "opaque.h"

static bool has(enum rh_opaque why)
{
    return rt_opaque_reasons() >> why & 1;
}

/* Each in a child, whose reasons are its own. */
static void check(void (*act)(void), enum rh_opaque why, bool expected)
{
    CHECK(!has(why));
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        act();
        _exit(has(why) == expected ? 0 : 1);
    }
    siginfo_t info;
    CHECK(waitid(P_PID, (id_t)child, &info, WEXITED) == 0);
    CHECK(info.si_code == CLD_EXITED && info.si_status == 0);
}

static void open_file(void)
{
    FILE *f = fopen("/dev/null", "r");
    CHECK(f && freopen("/etc/passwd", "r", f) == f && fclose(f) == 0);
    f = fopen64("/etc/passwd", "r");
    CHECK(f && freopen64("/dev/null", "r", f) == f && fclose(f) == 0);
    CHECK(!fopen("/nonexistent/file", "r") && errno == ENOENT);
    CHECK(!fdopen(-1, "r") && errno == EBADF);
    f = fdopen(open("/etc/passwd", O_RDONLY), "r");
    CHECK(f && fgetc(f) != EOF && fclose(f) == 0);
}

static void open_pipe(void)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    FILE *f = fdopen(ends[1], "w");
    CHECK(f && fputs("x", f) >= 0 && fclose(f) == 0);
}

static void open_socket(void)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    CHECK(fdopen(ends[1], "w"));
}

static void open_process(void)
{
    char line[16];
    FILE *f = popen("echo word", "r");
    CHECK(f && fgets(line, sizeof line, f) && line[0] == 'w' && pclose(f) == 0);
}

static char fifo[] = "/tmp/racehive-opaque-XXXXXX/fifo";

static void make_fifo(void)
{
    fifo[sizeof fifo - 6] = '\0';
    CHECK(mkdtemp(fifo));
    fifo[sizeof fifo - 6] = '/';
    CHECK(mkfifo(fifo, 0600) == 0);
}

static void remove_fifo(void)
{
    CHECK(unlink(fifo) == 0);
    fifo[sizeof fifo - 6] = '\0';
    CHECK(rmdir(fifo) == 0);
}

static void open_fifo(void)
{
    CHECK(fopen(fifo, "r+"));
}

static void reopen_fifo(void)
{
    FILE *f = fopen("/dev/null", "r");
    CHECK(f && freopen64(fifo, "r+", f));
}

static void create_timer(void)
{
    timer_t timer;
    CHECK(timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0);
}

static void ring(union sigval value)
{
    (void)value;
}

static void create_timer_with_thread(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = ring};
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
}

static void read_aside(void)
{
    static char room[8];
    static struct aiocb control = {.aio_buf = room, .aio_nbytes = sizeof room};
    const struct aiocb *list[] = {&control};
    control.aio_fildes = open("/etc/passwd", O_RDONLY);
    CHECK(aio_read(&control) == 0 && aio_suspend(list, 1, NULL) == 0);
    CHECK(aio_return(&control) == sizeof room);
}

/* Those that a program on the harness has are the system's. */
static void check_images(void)
{
    rt_opaque_check_images();
}

static void load_unknown(void)
{
    rt_opaque_loading("/usr/lib/libunknown.so");
}

static void load_unknown_and_check(void)
{
    load_unknown();
    rt_opaque_check_images();
}

static void load_known(void)
{
    rt_opaque_loading("libm.so.6");
    rt_opaque_loading(NULL);
}

int main(void)
{
    bool on = harness_is_on();
    make_fifo();
    check(open_file, RH_OPAQUE_STREAM, false);
    check(open_pipe, RH_OPAQUE_STREAM, on);
    check(open_socket, RH_OPAQUE_STREAM, on);
    check(open_process, RH_OPAQUE_STREAM, on);
    check(open_fifo, RH_OPAQUE_STREAM, on);
    check(reopen_fifo, RH_OPAQUE_STREAM, on);
    check(create_timer, RH_OPAQUE_HELPER, false);
    check(create_timer_with_thread, RH_OPAQUE_HELPER, true);
    check(read_aside, RH_OPAQUE_HELPER, true);
    check(check_images, RH_OPAQUE_LIBRARY, false);
    check(load_known, RH_OPAQUE_LIBRARY, false);
    check(load_unknown, RH_OPAQUE_LIBRARY, true);
    check(load_unknown_and_check, RH_OPAQUE_LIBRARY, false);
    remove_fifo();
    return 0;
}
