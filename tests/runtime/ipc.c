/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's message queues, semaphores and locks of files order threads; locks that belong to
 * the whole process do not. Kinds that this system does not have are passed over.
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

static uint32_t last_value;

/* Runs `give` in a thread and `take` in this one: the second knows what the first did. */
struct giving {
    void (*give)(int);
    int object;
    uint32_t value;
};

static void *give_in_thread(void *arg)
{
    const struct giving *g = arg;
    harness_tell(1, g->value);
    g->give(g->object);
    return NULL;
}

static void check_order(int object, void (*give)(int), void (*take)(int))
{
    struct giving g = {give, object, ++last_value};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, give_in_thread, &g) == 0);
    take(object);
    CHECK_KNOWS(1, g.value);
    CHECK(pthread_join(thread, NULL) == 0);
    harness_forget();
}

/* --- queues --- */

static const struct timespec far = {.tv_sec = 1ll << 40}, past = {.tv_sec = 1};

static void send_message(int q)
{
    CHECK(mq_send(q, "message", 8, 3) == 0);
}

static void send_message_in_time(int q)
{
    CHECK(mq_timedsend(q, "message", 8, 3, &far) == 0);
}

static void receive_message(int q)
{
    char room[64];
    unsigned priority;
    CHECK(mq_receive(q, room, sizeof room, &priority) == 8 && priority == 3);
    CHECK(strcmp(room, "message") == 0);
}

static void receive_message_in_time(int q)
{
    char room[64];
    CHECK(mq_timedreceive(q, room, sizeof room, NULL, &far) == 8);
}

static void test_queue(void)
{
    char name[64], room[64];
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = sizeof room};
    snprintf(name, sizeof name, "/racehive-ipc-%d", (int)getpid());
    mqd_t q = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
    if (q < 0)
        return;
    CHECK(mq_unlink(name) == 0);
    check_order(q, send_message, receive_message);
    check_order(q, send_message_in_time, receive_message_in_time);
    CHECK(mq_timedreceive(q, room, sizeof room, NULL, &past) == -1 && errno == ETIMEDOUT);
    EXPECT_NOTHING();
    CHECK(mq_close(q) == 0);
}

static void send_old_message(int q)
{
    struct msgbuf m = {.mtype = 1, .mtext = {'x'}};
    CHECK(msgsnd(q, &m, 1, 0) == 0);
}

static void receive_old_message(int q)
{
    struct msgbuf m;
    CHECK(msgrcv(q, &m, 1, 0, 0) == 1 && m.mtext[0] == 'x');
}

static void test_old_queue(void)
{
    struct msgbuf m;
    int q = msgget(IPC_PRIVATE, 0600);
    if (q < 0)
        return;
    check_order(q, send_old_message, receive_old_message);
    CHECK(msgrcv(q, &m, 1, 0, IPC_NOWAIT) == -1 && errno == ENOMSG);
    EXPECT_NOTHING();
    CHECK(msgctl(q, IPC_RMID, NULL) == 0);
}

/* --- semaphores --- */

union semun {
    int val;
    struct semid_ds *buf;
    unsigned short *array;
};

static void change(int id, short by)
{
    struct sembuf o = {.sem_op = by};
    CHECK(semop(id, &o, 1) == 0);
}

static void post(int id)
{
    change(id, 1);
}

static void post_by_value(int id)
{
    CHECK(semctl(id, 0, SETVAL, (union semun){.val = 1}) == 0);
}

static void wait_for_post(int id)
{
    change(id, -1);
}

static void wait_for_post_in_time(int id)
{
    struct sembuf o = {.sem_op = -1};
    CHECK(semtimedop(id, &o, 1, NULL) == 0);
}

static void test_semaphores(void)
{
    struct sembuf o = {.sem_op = -1, .sem_flg = IPC_NOWAIT};
    unsigned short values[2] = {9, 9};
    int id = semget(IPC_PRIVATE, 2, 0600);
    if (id < 0)
        return;
    check_order(id, post, wait_for_post);
    check_order(id, post, wait_for_post_in_time);
    check_order(id, post_by_value, wait_for_post);
    uint64_t before = harness_count(RT_SYNC_KERNEL_RECEIVE);
    CHECK(semop(id, &o, 1) == -1 && errno == EAGAIN);
    CHECK(!harness_is_exact() || harness_count(RT_SYNC_KERNEL_RECEIVE) == before);
    CHECK(semctl(id, 0, GETALL, (union semun){.array = values}) == 0);
    CHECK(values[0] == 0 && values[1] == 0 && semctl(id, 1, GETVAL) == 0);
    CHECK(semctl(id, 0, IPC_RMID) == 0);
}

/* --- locks --- */

static char path[] = "/tmp/racehive-ipc-XXXXXX";
static int other; /* the same file, opened once more, and locked to begin with */

static void unlock_other(int fd)
{
    (void)fd;
    CHECK(flock(other, LOCK_UN) == 0);
}

static void weaken_other(int fd)
{
    (void)fd;
    CHECK(flock(other, LOCK_SH) == 0);
}

static void close_other(int fd)
{
    (void)fd;
    CHECK(close(other) == 0);
}

static void lock_it(int fd)
{
    CHECK(flock(fd, LOCK_EX) == 0);
}

static void share_it(int fd)
{
    CHECK(flock(fd, LOCK_SH) == 0);
}

static void check_lock(void (*give)(int), void (*take)(int))
{
    int fd = open(path, O_RDWR);
    other = open(path, O_RDWR);
    CHECK(fd >= 0 && other >= 0 && flock(other, LOCK_EX) == 0);
    CHECK(flock(fd, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK);
    check_order(fd, give, take);
    CHECK(close(fd) == 0);
    close(other);
}

static int set_lock(int fd, int what, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(fd, what, &lock);
}

static void unlock_other_range(int fd)
{
    (void)fd;
    CHECK(set_lock(other, F_OFD_SETLK, F_UNLCK) == 0);
}

static void lock_range(int fd)
{
    CHECK(set_lock(fd, F_OFD_SETLKW, F_WRLCK) == 0);
}

static void test_range(void)
{
    int fd = open(path, O_RDWR);
    other = open(path, O_RDWR);
    CHECK(fd >= 0 && other >= 0 && set_lock(other, F_OFD_SETLK, F_WRLCK) == 0);
    CHECK(set_lock(fd, F_OFD_SETLK, F_WRLCK) == -1 && errno == EAGAIN);
    check_order(fd, unlock_other_range, lock_range);
    CHECK(close(fd) == 0);
    harness_forget();
    CHECK(set_lock(other, F_SETLKW, F_WRLCK) == 0 && lockf(other, F_ULOCK, 0) == 0);
    EXPECT_NOTHING();
    CHECK(close(other) == 0);
}

/* What else goes through fcntl arrives as it was. */
static void test_fcntl(void)
{
    int fd = open(path, O_RDWR);
    harness_forget();
    CHECK(fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    int copy = fcntl(fd, F_DUPFD, 100);
    CHECK(copy >= 100 && fcntl64(copy, F_GETFD) == 0);
    CHECK(fcntl(fd, F_SETFL, O_APPEND) == 0 && (fcntl(fd, F_GETFL) & O_APPEND));
    CHECK(fcntl(-1, F_GETFD) == -1 && errno == EBADF);
    EXPECT_NOTHING();
    CHECK(close(fd) == 0 && close(copy) == 0);
}

int main(void)
{
    harness_forget();
    test_queue();
    test_old_queue();
    test_semaphores();
    int fd = mkstemp(path);
    CHECK(fd >= 0 && close(fd) == 0);
    check_lock(unlock_other, lock_it);
    check_lock(weaken_other, share_it);
    check_lock(close_other, lock_it);
    test_range();
    test_fcntl();
    CHECK(unlink(path) == 0);
    return 0;
}
