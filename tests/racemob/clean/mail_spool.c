/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: a letter is a block of memory whose address goes through message queues: from the
 * sorter to a carrier and from the carriers back to the sorter. Whoever has sent an address does
 * not use it any more, and receiving a message comes after sending it. */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CARRIERS 2
#define LETTERS  16
#define ROOM     4

struct letter {
    int number;
    char street[24];
    int carrier;
    size_t steps;
};

struct carrier {
    mqd_t in, out;
    int number;
    unsigned carried;
};

static mqd_t open_queue(const char *what)
{
    struct mq_attr attributes = {.mq_maxmsg = ROOM, .mq_msgsize = sizeof(struct letter *)};
    char name[64];
    snprintf(name, sizeof name, "/fresh-%s-%ld", what, (long)getpid());
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
    if (queue != (mqd_t)-1)
        mq_unlink(name);
    return queue;
}

static void send_letter(mqd_t queue, struct letter *l)
{
    while (mq_send(queue, (const char *)&l, sizeof l, 0))
        if (errno != EINTR)
            abort();
}

static struct letter *receive_letter(mqd_t queue)
{
    struct letter *l;
    while (mq_receive(queue, (char *)&l, sizeof l, NULL) != (ssize_t)sizeof l)
        if (errno != EINTR)
            abort();
    return l;
}

static void *carry(void *arg)
{
    struct carrier *c = arg;
    struct letter *l;
    while ((l = receive_letter(c->in)) != NULL) {
        l->carrier = c->number;
        l->steps = 10 * strlen(l->street) + (size_t)l->number;
        c->carried++;
        send_letter(c->out, l);
    }
    return NULL;
}

static struct letter *write_letter(int number)
{
    struct letter *l = calloc(1, sizeof *l);
    if (!l)
        abort();
    l->number = number;
    l->carrier = -1;
    snprintf(l->street, sizeof l->street, "%d Mill Lane", number * 7);
    return l;
}

static size_t confirm(mqd_t queue, unsigned *by)
{
    struct letter *l = receive_letter(queue);
    size_t steps = l->steps;
    by[l->carrier]++;
    free(l);
    return steps;
}

int main(void)
{
    mqd_t out = open_queue("out"), back = open_queue("back");
    struct carrier carriers[CARRIERS];
    pthread_t threads[CARRIERS];
    unsigned by[CARRIERS] = {0};
    size_t steps = 0;
    int under_way = 0;
    if (out == (mqd_t)-1 || back == (mqd_t)-1) {
        puts("no message queues here");
        return 0;
    }
    for (int i = 0; i < CARRIERS; i++) {
        carriers[i] = (struct carrier){out, back, i, 0};
        if (pthread_create(&threads[i], NULL, carry, &carriers[i]))
            abort();
    }
    for (int i = 0; i < LETTERS; i++) {
        if (under_way == ROOM) {
            steps += confirm(back, by);
            under_way--;
        }
        send_letter(out, write_letter(i));
        under_way++;
    }
    for (; under_way > 0; under_way--)
        steps += confirm(back, by);
    for (int i = 0; i < CARRIERS; i++)
        send_letter(out, NULL);
    for (int i = 0; i < CARRIERS; i++)
        pthread_join(threads[i], NULL);
    printf("%zu steps, letters %u and %u\n", steps, carriers[0].carried, carriers[1].carried);
    mq_close(out);
    mq_close(back);
    return by[0] != carriers[0].carried || by[1] != carriers[1].carried;
}
