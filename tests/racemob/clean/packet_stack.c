/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: a packet is filled in before it is pushed with a release CAS, and the collector takes
 * the whole stack with one acquire exchange. Later pushes are read-modify-writes that continue the
 * release sequences of the earlier ones, so the exchange comes after all that it takes. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SENDERS 3
#define PACKETS 40

struct packet {
    struct packet *next;
    uint16_t sender, length;
    uint8_t bytes[24];
};

struct stack {
    _Atomic(struct packet *) top;
};

struct sender {
    struct stack *stack;
    uint16_t number;
};

struct collector {
    struct stack *stack;
    unsigned received[SENDERS];
    unsigned damaged;
};

static void push(struct stack *s, struct packet *p)
{
    struct packet *old = atomic_load_explicit(&s->top, memory_order_relaxed);
    do
        p->next = old;
    while (!atomic_compare_exchange_weak_explicit(&s->top, &old, p, memory_order_release,
                                                  memory_order_relaxed));
}

static struct packet *take_all(struct stack *s)
{
    return atomic_exchange_explicit(&s->top, NULL, memory_order_acquire);
}

static struct packet *make_packet(uint16_t sender, int number)
{
    struct packet *p = malloc(sizeof *p);
    if (!p)
        abort();
    p->sender = sender;
    p->length = (uint16_t)(1 + number % (int)sizeof p->bytes);
    for (int i = 0; i < p->length; i++)
        p->bytes[i] = (uint8_t)(sender * 16 + i);
    return p;
}

static int check(const struct packet *p)
{
    for (int i = 0; i < p->length; i++)
        if (p->bytes[i] != (uint8_t)(p->sender * 16 + i))
            return 0;
    return 1;
}

static void *send_packets(void *arg)
{
    struct sender *s = arg;
    for (int i = 0; i < PACKETS; i++)
        push(s->stack, make_packet(s->number, i));
    return NULL;
}

static void *collect(void *arg)
{
    struct collector *c = arg;
    for (unsigned total = 0; total < SENDERS * PACKETS;) {
        struct packet *p = take_all(c->stack);
        if (!p)
            sched_yield();
        while (p) {
            struct packet *next = p->next;
            c->received[p->sender]++;
            c->damaged += !check(p);
            free(p);
            p = next;
            total++;
        }
    }
    return NULL;
}

int main(void)
{
    static struct stack stack;
    struct sender senders[SENDERS];
    struct collector *collector = calloc(1, sizeof *collector);
    pthread_t threads[SENDERS + 1];
    if (!collector)
        return 1;
    collector->stack = &stack;
    if (pthread_create(&threads[SENDERS], NULL, collect, collector))
        abort();
    for (uint16_t i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){&stack, i};
        if (pthread_create(&threads[i], NULL, send_packets, &senders[i]))
            abort();
    }
    for (int i = 0; i <= SENDERS; i++)
        pthread_join(threads[i], NULL);
    unsigned damaged = collector->damaged;
    printf("%u %u %u packets, %u damaged\n", collector->received[0], collector->received[1],
           collector->received[2], damaged);
    free(collector);
    return damaged != 0;
}
