/* SPDX-License-Identifier: Apache-2.0 */
/* The receiving and the sending half of a connection have a lock each, and one bit each, in the
 * same word. Setting one bit writes the other back. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNKS 40

struct connection {
    pthread_mutex_t rx_lock;
    pthread_mutex_t tx_lock;
    unsigned long rx_bytes;
    unsigned long tx_bytes;
    int id;
    unsigned rx_busy : 1;
    unsigned tx_busy : 1;
    unsigned encrypted : 1;
};

struct half {
    struct connection *connection;
    void (*step)(struct connection *, int chunk);
};

static void receive(struct connection *c, int chunk)
{
    pthread_mutex_lock(&c->rx_lock);
    c->rx_busy = chunk % 2 == 0; // RACE
    c->rx_bytes += 100 + (unsigned long)chunk;
    pthread_mutex_unlock(&c->rx_lock);
}

static void transmit(struct connection *c, int chunk)
{
    pthread_mutex_lock(&c->tx_lock);
    c->tx_busy = chunk % 3 == 0; // RACE
    c->tx_bytes += 20 * (unsigned long)chunk;
    pthread_mutex_unlock(&c->tx_lock);
}

static void *pump(void *arg)
{
    struct half *h = arg;
    for (int i = 0; i < CHUNKS; i++)
        h->step(h->connection, i);
    return NULL;
}

static struct connection *open_connection(int id)
{
    struct connection *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    pthread_mutex_init(&c->rx_lock, NULL);
    pthread_mutex_init(&c->tx_lock, NULL);
    c->id = id;
    c->encrypted = id & 1;
    return c;
}

static void close_connection(struct connection *c)
{
    printf("%d%s: in %lu%s, out %lu%s\n", c->id, c->encrypted ? "s" : "", c->rx_bytes,
           c->rx_busy ? "+" : "", c->tx_bytes, c->tx_busy ? "+" : "");
    pthread_mutex_destroy(&c->rx_lock);
    pthread_mutex_destroy(&c->tx_lock);
    free(c);
}

int main(void)
{
    struct connection *c = open_connection(7);
    struct half halves[2] = {{c, receive}, {c, transmit}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, pump, &halves[i]))
            abort();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    close_connection(c);
    return 0;
}
