/* SPDX-License-Identifier: Apache-2.0 */
/* A download goes on with the session it borrowed, while the reaper takes the session out of the
 * table and frees it. The reads after that see old memory of the heap, which does no harm here:
 * nothing is allocated any more, and the number is only printed. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SESSIONS 4

struct session {
    char user[32];
    char token[64];
    unsigned long quota;
    char address[80];
};

struct registry {
    pthread_mutex_t lock;
    struct session *slots[SESSIONS];
    unsigned alive;
};

struct download {
    const struct session *session;
    unsigned long granted;
    unsigned chunks;
};

static struct session *session_new(const char *user, unsigned long quota)
{
    struct session *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    snprintf(s->user, sizeof s->user, "%s", user);
    snprintf(s->token, sizeof s->token, "%08lx", quota * 2654435761ul);
    s->quota = quota;
    return s;
}

static void session_free(struct session *s)
{
    free(s); // RACE
}

static int registry_add(struct registry *r, struct session *s)
{
    int slot = -1;
    pthread_mutex_lock(&r->lock);
    for (int i = 0; i < SESSIONS && slot < 0; i++)
        if (!r->slots[i]) {
            r->slots[i] = s;
            r->alive++;
            slot = i;
        }
    pthread_mutex_unlock(&r->lock);
    return slot;
}

static struct session *registry_find(struct registry *r, int slot)
{
    pthread_mutex_lock(&r->lock);
    struct session *s = r->slots[slot];
    pthread_mutex_unlock(&r->lock);
    return s;
}

static void *reap(void *arg)
{
    struct registry *r = arg;
    for (int i = 0; i < SESSIONS; i++) {
        pthread_mutex_lock(&r->lock);
        struct session *s = r->slots[i];
        r->slots[i] = NULL;
        r->alive -= s != NULL;
        pthread_mutex_unlock(&r->lock);
        if (s)
            session_free(s);
    }
    return NULL;
}

static unsigned long remaining(const struct session *s)
{
    return s->quota; // RACE
}

static void *transfer(void *arg)
{
    struct download *d = arg;
    while (d->chunks < 10) {
        d->granted ^= remaining(d->session) + d->chunks;
        d->chunks++;
        usleep(300);
    }
    return NULL;
}

int main(void)
{
    struct registry registry = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t reaper, loader;
    int slot = registry_add(&registry, session_new("guest", 4096));
    struct download download = {registry_find(&registry, slot), 0, 0};
    if (pthread_create(&loader, NULL, transfer, &download) ||
        pthread_create(&reaper, NULL, reap, &registry))
        abort();
    pthread_join(loader, NULL);
    pthread_join(reaper, NULL);
    printf("%u chunks, granted %lx, %u sessions alive\n", download.chunks, download.granted,
           registry.alive);
    return 0;
}
