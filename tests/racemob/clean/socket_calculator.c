/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: a request belongs to whoever holds its address. Clients send the address through a
 * socketpair to the server, which sends it back when the result is in; finished requests go to the
 * archive through a pipe. Each passing on is a write to a descriptor, each receipt a read from it,
 * and nobody touches a request after having passed it on. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS  2
#define REQUESTS 12

struct request {
    int client;
    char operation;
    long left, right, result;
};

struct client {
    int number, socket, archive;
    unsigned wrong;
};

struct server {
    int sockets[CLIENTS];
    unsigned served;
};

static void pass_on(int fd, struct request *r)
{
    while (write(fd, &r, sizeof r) != (ssize_t)sizeof r)
        if (errno != EINTR)
            abort();
}

static struct request *receive(int fd)
{
    struct request *r;
    while (read(fd, &r, sizeof r) != (ssize_t)sizeof r)
        if (errno != EINTR)
            abort();
    return r;
}

static long compute(const struct request *r)
{
    switch (r->operation) {
    case '+':
        return r->left + r->right;
    case '*':
        return r->left * r->right;
    default:
        return r->left - r->right;
    }
}

static void *serve(void *arg)
{
    struct server *s = arg;
    struct pollfd polls[CLIENTS];
    int open = CLIENTS;
    for (int i = 0; i < CLIENTS; i++)
        polls[i] = (struct pollfd){.fd = s->sockets[i], .events = POLLIN};
    while (open > 0) {
        if (poll(polls, CLIENTS, -1) < 0 && errno != EINTR)
            abort();
        for (int i = 0; i < CLIENTS; i++) {
            if (!(polls[i].revents & POLLIN))
                continue;
            struct request *r = receive(polls[i].fd);
            if (!r) {
                polls[i].fd = -1;
                polls[i].revents = 0;
                open--;
                continue;
            }
            r->result = compute(r);
            s->served++;
            pass_on(polls[i].fd, r);
        }
    }
    return NULL;
}

static void *ask(void *arg)
{
    struct client *c = arg;
    for (int i = 0; i < REQUESTS; i++) {
        struct request *r = malloc(sizeof *r);
        if (!r)
            abort();
        *r = (struct request){c->number, "+*-"[i % 3], i + 2, c->number + 5, 0};
        pass_on(c->socket, r);
        r = receive(c->socket);
        c->wrong += r->client != c->number || r->result != compute(r);
        pass_on(c->archive, r);
    }
    pass_on(c->socket, NULL);
    return NULL;
}

static void *keep_archive(void *arg)
{
    int fd = *(int *)arg;
    long sum = 0;
    for (int i = 0; i < CLIENTS * REQUESTS; i++) {
        struct request *r = receive(fd);
        sum += r->result;
        free(r);
    }
    return (void *)sum;
}

int main(void)
{
    int tube[2], pairs[CLIENTS][2];
    struct server server = {.served = 0};
    struct client clients[CLIENTS];
    pthread_t threads[CLIENTS], serving, archive;
    void *sum;
    if (pipe(tube))
        return 1;
    for (int i = 0; i < CLIENTS; i++) {
        if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pairs[i]))
            return 1;
        server.sockets[i] = pairs[i][0];
        clients[i] = (struct client){i, pairs[i][1], tube[1], 0};
    }
    if (pthread_create(&serving, NULL, serve, &server) ||
        pthread_create(&archive, NULL, keep_archive, &tube[0]))
        abort();
    for (int i = 0; i < CLIENTS; i++)
        if (pthread_create(&threads[i], NULL, ask, &clients[i]))
            abort();
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(serving, NULL);
    pthread_join(archive, &sum);
    printf("%u served, sum %ld, %u wrong\n", server.served, (long)sum,
           clients[0].wrong + clients[1].wrong);
    for (int i = 0; i < CLIENTS; i++) {
        close(pairs[i][0]);
        close(pairs[i][1]);
    }
    close(tube[0]);
    close(tube[1]);
    return clients[0].wrong + clients[1].wrong != 0;
}
