/* SPDX-License-Identifier: Apache-2.0 */
/* A POSIX message queue hands the data over: who has received comes after who has sent.
 * ThreadSanitizer is wrong here: it does not know message queues. */
#include "../program.h"
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <unistd.h>

static mqd_t queue;
static long data;

static void *receive(void *arg)
{
    char text[8];
    must(mq_receive(queue, text, sizeof text, NULL) == 1);
    must(data == 1);
    data = 2;
    return arg;
}

int main(void)
{
    pthread_t thread;
    char name[64];
    struct mq_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.mq_maxmsg = 2;
    attributes.mq_msgsize = 8;
    snprintf(name, sizeof name, "/racehive-test-%ld", (long)getpid());
    queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
    must(queue != (mqd_t)-1);
    mq_unlink(name);
    start(&thread, receive, NULL);
    data = 1;
    must(mq_send(queue, "x", 1, 0) == 0);
    finish(thread);
    must(data == 2);
    mq_close(queue);
    return 0;
}
// TSAN: wrong, it does not know message queues
