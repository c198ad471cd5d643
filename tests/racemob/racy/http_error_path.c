/* SPDX-License-Identifier: Apache-2.0 */
/* A small request handler keeps statistics. The good path updates them under the lock; the path
 * for malformed requests counts the failure after it has already left, without the lock. Every
 * connection ends with a malformed request, so both workers get there after their last unlock. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stats {
    pthread_mutex_t lock;
    unsigned long served;
    unsigned long bytes;
    unsigned long failed;
};

struct request {
    char method[8];
    char path[48];
};

struct connection {
    const char *const *lines;
    struct stats *stats;
    struct request current;
    int keep_alive;
};

typedef int (*handler_fn)(struct connection *, const struct request *);

static const char *const first_client[] = {
    "GET /index.html", "HEAD /logo.png", "GET /style.css", "POST /form", "BOGUS", NULL,
};
static const char *const second_client[] = {
    "GET /", "nonsense", "GET /news/2021/08", "HEAD /favicon.ico", "\x01\x02\x03", NULL,
};

static int parse(const char *line, struct request *out)
{
    const char *space = strchr(line, ' ');
    if (space == NULL || (size_t)(space - line) >= sizeof out->method)
        return -1;
    memcpy(out->method, line, (size_t)(space - line));
    out->method[space - line] = '\0';
    snprintf(out->path, sizeof out->path, "%s", space + 1);
    return out->path[0] == '/' ? 0 : -1;
}

static int account(struct connection *c, size_t bytes)
{
    pthread_mutex_lock(&c->stats->lock);
    c->stats->served++;
    c->stats->bytes += bytes;
    pthread_mutex_unlock(&c->stats->lock);
    return 0;
}

static int on_get(struct connection *c, const struct request *r)
{
    return account(c, 200 + strlen(r->path));
}

static int on_head(struct connection *c, const struct request *r)
{
    (void)r;
    return account(c, 64);
}

static handler_fn find_handler(const char *method)
{
    if (!strcmp(method, "GET"))
        return on_get;
    if (!strcmp(method, "HEAD"))
        return on_head;
    return NULL;
}

static void reject(struct connection *c)
{
    c->keep_alive = 0;
    c->stats->failed++; // RACE
}

static void *serve(void *arg)
{
    struct connection *c = arg;
    for (const char *const *line = c->lines; *line; line++) {
        handler_fn handler = NULL;
        if (parse(*line, &c->current) == 0)
            handler = find_handler(c->current.method);
        if (handler)
            c->keep_alive = handler(c, &c->current) == 0;
        else
            reject(c);
    }
    return NULL;
}

int main(void)
{
    struct stats *stats = calloc(1, sizeof *stats);
    struct connection *clients = calloc(2, sizeof *clients);
    pthread_t workers[2];
    if (!stats || !clients)
        return 1;
    pthread_mutex_init(&stats->lock, NULL);
    clients[0] = (struct connection){.lines = first_client, .stats = stats};
    clients[1] = (struct connection){.lines = second_client, .stats = stats};
    for (int i = 0; i < 2; i++)
        if (pthread_create(&workers[i], NULL, serve, &clients[i]))
            abort();
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    printf("served %lu (%lu bytes), failed %lu\n", stats->served, stats->bytes, stats->failed);
    pthread_mutex_destroy(&stats->lock);
    free(clients);
    free(stats);
    return 0;
}
