/* SPDX-License-Identifier: Apache-2.0 */
/* One datagram socket is connected to one receiver and then to the other, by turns: each receiver
 * comes after what was sent to it last, whoever the socket was connected to before. */
#include "../program.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define ROUNDS 60

static struct receiver {
    int socket;
    struct sockaddr_in address;
    long parcel, sum;
} receivers[2];

static void open_receiver(struct receiver *r)
{
    socklen_t size = sizeof r->address;
    r->socket = socket(AF_INET, SOCK_DGRAM, 0);
    r->address.sin_family = AF_INET;
    r->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(r->socket >= 0 && bind(r->socket, (struct sockaddr *)&r->address, size) == 0);
    must(getsockname(r->socket, (struct sockaddr *)&r->address, &size) == 0);
}

/* Says by another datagram that the parcel has been taken. */
static void *receive(void *arg)
{
    struct receiver *r = arg;
    struct sockaddr_in from;
    char byte;
    for (int i = 0; i < ROUNDS; i++) {
        socklen_t size = sizeof from;
        must(recvfrom(r->socket, &byte, 1, 0, (struct sockaddr *)&from, &size) == 1);
        must(r->parcel == i);
        r->sum += r->parcel;
        r->parcel = -1;
        must(sendto(r->socket, &byte, 1, 0, (struct sockaddr *)&from, size) == 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    char byte = 0;
    int sender = socket(AF_INET, SOCK_DGRAM, 0);
    for (int i = 0; i < 2; i++) {
        open_receiver(&receivers[i]);
        must(pthread_create(&threads[i], NULL, receive, &receivers[i]) == 0);
    }
    for (int i = 0; i < 2 * ROUNDS; i++) {
        struct receiver *r = &receivers[i % 2];
        must(connect(sender, (struct sockaddr *)&r->address, sizeof r->address) == 0);
        r->parcel = i / 2;
        must(send(sender, &byte, 1, 0) == 1);
        must(recv(sender, &byte, 1, 0) == 1);
        must(r->parcel == -1);
    }
    for (int i = 0; i < 2; i++)
        must(pthread_join(threads[i], NULL) == 0);
    must(receivers[0].sum == ROUNDS * (ROUNDS - 1) / 2 && receivers[1].sum == receivers[0].sum);
    return 0;
}
