/* SPDX-License-Identifier: Apache-2.0 */
/* A System V semaphore and a System V message queue hand the data over. ThreadSanitizer is wrong
 * here: it does not know System V. */
#include "../program.h"
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

struct message {
    long type;
    char text[1];
};

static int semaphore, queue;
static long data;

static void *answer(void *arg)
{
    struct sembuf take = {0, -1, 0};
    struct message message = {1, "x"};
    must(semop(semaphore, &take, 1) == 0);
    must(data == 1);
    data = 2;
    must(msgsnd(queue, &message, 1, 0) == 0);
    return arg;
}

int main(void)
{
    pthread_t thread;
    struct sembuf give = {0, 1, 0};
    struct message message;
    semaphore = semget(IPC_PRIVATE, 1, 0600);
    queue = msgget(IPC_PRIVATE, 0600);
    must(semaphore >= 0 && queue >= 0);
    must(semctl(semaphore, 0, SETVAL, 0) == 0);
    start(&thread, answer, NULL);
    data = 1;
    must(semop(semaphore, &give, 1) == 0);
    must(msgrcv(queue, &message, 1, 0, 0) == 1);
    must(data == 2);
    data = 3;
    finish(thread);
    semctl(semaphore, 0, IPC_RMID);
    msgctl(queue, IPC_RMID, NULL);
    return 0;
}
// TSAN: wrong, it does not know System V
