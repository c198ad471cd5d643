/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that is told that a descriptor is ready comes after the thread that made it ready, even
 * if it does not read from it; and a thread that gets a descriptor from an epoll set comes after
 * the one that added it.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "harness.h"
#include "kernel/kernel.h"

/* Hidden from the compiler, or it would not call the checking functions. */
static volatile nfds_t one = 1;

typedef int wait_for(int fd, int timeout_ms);

static struct timespec *timespec_of(int ms)
{
    static struct timespec t;
    t = (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    return ms < 0 ? NULL : &t;
}

static int wait_poll(int fd, int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, one, timeout_ms);
}

static int wait_ppoll(int fd, int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return ppoll(&p, one, timespec_of(timeout_ms), NULL);
}

static int wait_select(int fd, int timeout_ms)
{
    fd_set set;
    struct timeval t = {.tv_usec = timeout_ms * 1000};
    FD_ZERO(&set);
    FD_SET(fd, &set);
    return select(fd + 1, &set, NULL, NULL, timeout_ms < 0 ? NULL : &t);
}

static int wait_pselect(int fd, int timeout_ms)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    return pselect(fd + 1, &set, NULL, NULL, timespec_of(timeout_ms), NULL);
}

enum epoll_way { PLAIN, MASKED, MASKED_FINE };

static int wait_epoll_by(int fd, int timeout_ms, enum epoll_way way)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLET};
    int result, set = epoll_create1(0);
    CHECK(set >= 0 && epoll_ctl(set, EPOLL_CTL_ADD, fd, &e) == 0);
    if (way == PLAIN)
        result = epoll_wait(set, &e, 1, timeout_ms);
    else if (way == MASKED)
        result = epoll_pwait(set, &e, 1, timeout_ms, NULL);
    else
        result = epoll_pwait2(set, &e, 1, timespec_of(timeout_ms), NULL);
    int kept = errno;
    CHECK(close(set) == 0);
    errno = kept;
    return result;
}

static int wait_epoll(int fd, int timeout_ms)
{
    return wait_epoll_by(fd, timeout_ms, PLAIN);
}

static int wait_epoll_masked(int fd, int timeout_ms)
{
    return wait_epoll_by(fd, timeout_ms, MASKED);
}

/* Where the kernel has it. */
static int wait_epoll_fine(int fd, int timeout_ms)
{
    int result = wait_epoll_by(fd, timeout_ms, MASKED_FINE);
    return result < 0 && errno == ENOSYS ? wait_epoll(fd, timeout_ms) : result;
}

static wait_for *const waits[] = {wait_poll,  wait_ppoll,        wait_select,    wait_pselect,
                                  wait_epoll, wait_epoll_masked, wait_epoll_fine};
enum { WAITS = sizeof waits / sizeof waits[0] };

static uint32_t last_value;

struct waking {
    int fd;
    uint32_t value;
};

static void *wake(void *arg)
{
    const struct waking *w = arg;
    const uint64_t count = 1;
    harness_tell(1, w->value);
    CHECK(write(w->fd, &count, sizeof count) == sizeof count);
    return NULL;
}

static void check_wake(wait_for *wait, int to, int from)
{
    char room[8];
    pthread_t thread;
    struct waking w = {to, ++last_value};
    CHECK(wait(from, 0) == 0);
    CHECK(wait(from, 1) == 0);
    CHECK(pthread_create(&thread, NULL, wake, &w) == 0);
    CHECK(wait(from, -1) == 1);
    CHECK_KNOWS(1, w.value);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(read(from, room, sizeof room) == sizeof room);
    harness_forget();
}

static void test_waits(void)
{
    int ends[2], counter = eventfd(0, 0);
    CHECK(pipe(ends) == 0 && counter >= 0);
    for (int i = 0; i < WAITS; i++) {
        check_wake(waits[i], ends[1], ends[0]);
        check_wake(waits[i], counter, counter);
    }
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0 && close(counter) == 0);
    harness_forget();
}

/* Nothing is learned from a wait that ends without an event, or fails. */
static void test_nothing(void)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    harness_forget();
    CHECK(poll(NULL, 0, 0) == 0);
    CHECK(wait_poll(ends[0], 1) == 0 && wait_select(ends[0], 1) == 0);
    struct epoll_event e;
    CHECK(epoll_wait(-1, &e, 1, 0) == -1 && errno == EBADF);
    CHECK(select(-1, NULL, NULL, NULL, NULL) == -1 && errno == EINVAL);
    EXPECT_NOTHING();
    CHECK(epoll_ctl(-1, EPOLL_CTL_ADD, 0, &e) == -1 && errno == EBADF);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    harness_forget();
}

/* A descriptor that is ready already is handed to who waits at the set. */
struct handing {
    int set, fd;
    uint32_t value;
};

static void *hand_over(void *arg)
{
    const struct handing *h = arg;
    struct epoll_event e = {.events = EPOLLIN, .data.fd = h->fd};
    harness_tell(1, h->value);
    CHECK(epoll_ctl(h->set, EPOLL_CTL_ADD, h->fd, &e) == 0);
    return NULL;
}

static void test_hand_over(void)
{
    int ends[2];
    struct epoll_event e;
    struct handing h = {epoll_create1(0), -1, ++last_value};
    pthread_t thread;
    CHECK(h.set >= 0 && pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
    h.fd = ends[0];
    CHECK(pthread_create(&thread, NULL, hand_over, &h) == 0);
    CHECK(epoll_wait(h.set, &e, 1, -1) == 1 && e.data.fd == ends[0]);
    CHECK_KNOWS(1, h.value);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0 && close(h.set) == 0);
    harness_forget();
}

static void *start_timer(void *arg)
{
    const struct waking *w = arg;
    const struct itimerspec soon = {.it_value.tv_nsec = 1000000};
    harness_tell(1, w->value);
    CHECK(timerfd_settime(w->fd, 0, &soon, NULL) == 0);
    return NULL;
}

static void test_timer(void)
{
    uint64_t times;
    pthread_t thread;
    struct waking w = {timerfd_create(CLOCK_MONOTONIC, 0), ++last_value};
    CHECK(w.fd >= 0 && pthread_create(&thread, NULL, start_timer, &w) == 0);
    CHECK(read(w.fd, &times, sizeof times) == sizeof times && times == 1);
    CHECK_KNOWS(1, w.value);
    CHECK(pthread_join(thread, NULL) == 0 && close(w.fd) == 0);
    harness_forget();
}

/* What goes to the standard streams wakes nobody. */
static void test_log(void)
{
    int ends[2], kept = dup(STDOUT_FILENO);
    CHECK(kept >= 0 && pipe(ends) == 0 && dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO);
    harness_forget();
    uint64_t before = harness_count(RT_SYNC_KERNEL_SEND);
    CHECK(write(STDOUT_FILENO, "x", 1) == 1);
    CHECK(!harness_is_exact() || harness_count(RT_SYNC_KERNEL_SEND) == before + 1);
    CHECK(dup2(kept, STDOUT_FILENO) == STDOUT_FILENO && close(kept) == 0);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

int main(void)
{
    harness_forget();
    test_waits();
    test_nothing();
    test_hand_over();
    test_timer();
    test_log();
    return 0;
}
