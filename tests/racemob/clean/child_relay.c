/* SPDX-License-Identifier: Apache-2.0 */
/* A child process takes from one thread by a pipe what it tells another by a second pipe, and the
 * same by two pairs of sockets. What the first did before comes before what the second does then. */
#include <semaphore.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../program.h"

enum { ROUNDS = 60, WAYS = 2 };

static int to_child[WAYS][2], from_child[WAYS][2]; /* ends to read from and to write to */
static long data[WAYS];
static sem_t heard;

static void send_byte(const int *ends)
{
    char byte = 0;
    must(write(ends[1], &byte, 1) == 1);
}

static void receive_byte(const int *ends)
{
    char byte;
    must(read(ends[0], &byte, 1) == 1);
}

static void relay(void)
{
    for (int i = 0; i < ROUNDS; i++)
        for (int way = 0; way < WAYS; way++) {
            receive_byte(to_child[way]);
            send_byte(from_child[way]);
        }
}

static void *say(void *arg)
{
    for (int i = 0; i < ROUNDS; i++)
        for (int way = 0; way < WAYS; way++) {
            data[way] += next();
            send_byte(to_child[way]);
            while (sem_wait(&heard) != 0)
                continue;
        }
    return arg;
}

static void *listen_to(void *arg)
{
    for (int i = 0; i < ROUNDS; i++)
        for (int way = 0; way < WAYS; way++) {
            receive_byte(from_child[way]);
            keep((unsigned long)data[way]);
            sem_post(&heard);
        }
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    int status;
    must(pipe(to_child[0]) == 0 && pipe(from_child[0]) == 0);
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, to_child[1]) == 0);
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, from_child[1]) == 0);
    sem_init(&heard, 0, 0);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        relay();
        _exit(0);
    }
    start(&threads[0], say, NULL);
    start(&threads[1], listen_to, NULL);
    for (int i = 0; i < 2; i++)
        finish(threads[i]);
    must(waitpid(child, &status, 0) == child && status == 0);
    return 0;
}
