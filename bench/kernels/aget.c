/* SPDX-License-Identifier: Apache-2.0 */
/* Threads fetch the parts of a file over sockets and put them together, again and again: the
 * pattern of aget. The server is a thread of the program, too; a meter shows how much has come.
 *
 * The races are aget's: the number of bytes is added to under a lock, but shown without one; and
 * the wish to stop, which a signal handler writes there, is a plain variable. */
#include "kernel.h"

#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BLOCK  4096
#define BLOCKS 1024
#define SIZE   ((long)BLOCKS * BLOCK)

struct part {
    int client, server;
    long from, to;
};

static unsigned char fetched[SIZE];
static long downloads, thread_count;
static struct part parts[MOST_THREADS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long bytes_come, shown;
static int stop_wanted;
static int done;

/* The file's bytes, eight at a time. */
static uint64_t word_at(long at)
{
    uint64_t seed = (uint64_t)at;
    return next_random(&seed);
}

static void *serve(void *arg)
{
    const struct part *p = arg;
    uint64_t block[BLOCK / sizeof(uint64_t)];
    for (long at = p->from; at < p->to; at += BLOCK) {
        for (long i = 0; i < BLOCK; i += 8)
            block[i / 8] = word_at(at + i);
        check(send(p->server, block, BLOCK, 0) == BLOCK, "cannot send");
    }
    close(p->server);
    return NULL;
}

static void *fetch(void *arg)
{
    const struct part *p = arg;
    unsigned char block[BLOCK];
    long at = p->from;
    while (at < p->to && !stop_wanted) { // RACE: stop
        ssize_t come = recv(p->client, block, sizeof(block), 0);
        check(come > 0, "the server is gone");
        memcpy(fetched + at, block, (size_t)come);
        at += come;
        pthread_mutex_lock(&lock);
        bytes_come += come; // RACE: come
        pthread_mutex_unlock(&lock);
    }
    close(p->client);
    return NULL;
}

static void *show(void *arg)
{
    struct timespec length = {0, 1000000};
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
        shown = bytes_come;                     // RACE: come
        stop_wanted = shown > downloads * SIZE; // RACE: stop
        nanosleep(&length, NULL);
    }
    return arg;
}

static void download(void)
{
    pthread_t servers[MOST_THREADS], clients[MOST_THREADS];
    for (long i = 0; i < thread_count; i++) {
        int ends[2];
        long first, end;
        check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "no sockets");
        share(BLOCKS, i, thread_count, &first, &end);
        parts[i] = (struct part){ends[0], ends[1], first * BLOCK, end * BLOCK};
        start(&servers[i], serve, &parts[i]);
        start(&clients[i], fetch, &parts[i]);
    }
    for (long i = 0; i < thread_count; i++) {
        finish(servers[i]);
        finish(clients[i]);
    }
    for (long at = 0; at < SIZE; at += 8) {
        uint64_t word;
        memcpy(&word, fetched + at, sizeof(word));
        check(word == word_at(at), "the file is not what was served");
    }
    memset(fetched, 0, SIZE);
}

int main(int argc, char **argv)
{
    pthread_t meter;
    downloads = argument(argc, argv, 1, 1, 1000000);
    thread_count = argument(argc, argv, 2, 1, MOST_THREADS);
    start(&meter, show, NULL);
    for (long i = 0; i < downloads; i++)
        download();
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    finish(meter);
    check(bytes_come == downloads * SIZE && shown <= bytes_come, "bytes are missing");
    return 0;
}
