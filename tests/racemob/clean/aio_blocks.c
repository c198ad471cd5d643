/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: main fills in and submits a request under the batch's mutex, and the notification's
 * thread takes that mutex before it looks at the request. A request's buffer is used again only
 * after its notification was counted under the mutex. The batch is static and outlives everything.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCKS 6
#define SIZE   512

struct transfer {
    struct aiocb control;
    int done;
    ssize_t moved;
    unsigned char data[SIZE];
};

struct batch {
    pthread_mutex_t lock;
    pthread_cond_t all_done;
    struct transfer transfers[BLOCKS];
    int pending, failed;
};

static struct batch batch = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .all_done = PTHREAD_COND_INITIALIZER,
};

static void on_done(union sigval value)
{
    struct transfer *t = value.sival_ptr;
    struct batch *b = &batch;
    pthread_mutex_lock(&b->lock);
    if (aio_error(&t->control) == 0)
        t->moved = aio_return(&t->control);
    b->failed += t->moved != SIZE;
    t->done = 1;
    if (--b->pending == 0)
        pthread_cond_signal(&b->all_done);
    pthread_mutex_unlock(&b->lock);
}

static void prepare(struct transfer *t, int fd, int index)
{
    memset(&t->control, 0, sizeof t->control);
    t->done = 0;
    t->moved = -1;
    t->control.aio_fildes = fd;
    t->control.aio_offset = (off_t)index * SIZE;
    t->control.aio_buf = t->data;
    t->control.aio_nbytes = SIZE;
    t->control.aio_sigevent.sigev_notify = SIGEV_THREAD;
    t->control.aio_sigevent.sigev_notify_function = on_done;
    t->control.aio_sigevent.sigev_value.sival_ptr = t;
}

static int run(struct batch *b, int fd, int (*submit)(struct aiocb *))
{
    pthread_mutex_lock(&b->lock);
    b->pending = BLOCKS;
    for (int i = 0; i < BLOCKS; i++) {
        prepare(&b->transfers[i], fd, i);
        if (submit(&b->transfers[i].control)) {
            b->pending--;
            b->failed++;
        }
    }
    while (b->pending > 0)
        pthread_cond_wait(&b->all_done, &b->lock);
    int failed = b->failed;
    pthread_mutex_unlock(&b->lock);
    return failed;
}

static void fill(struct batch *b, int value)
{
    pthread_mutex_lock(&b->lock);
    for (int i = 0; i < BLOCKS; i++)
        memset(b->transfers[i].data, value ? value + i : 0, SIZE);
    pthread_mutex_unlock(&b->lock);
}

static unsigned long sum(struct batch *b)
{
    unsigned long total = 0;
    pthread_mutex_lock(&b->lock);
    for (int i = 0; i < BLOCKS; i++)
        for (int k = 0; k < SIZE; k++)
            total += b->transfers[i].data[k];
    pthread_mutex_unlock(&b->lock);
    return total;
}

int main(void)
{
    int fd = memfd_create("blocks", 0);
    if (fd < 0)
        return 1;
    fill(&batch, 40);
    unsigned long written = sum(&batch);
    int failed = run(&batch, fd, aio_write);
    fill(&batch, 0);
    if (!failed)
        failed = run(&batch, fd, aio_read);
    unsigned long read_back = sum(&batch);
    printf("%lu written, %lu read, %d failed\n", written, read_back, failed);
    return failed || written != read_back;
}
// TSAN: cannot, the library starts threads without its knowledge
