/* SPDX-License-Identifier: Apache-2.0 */
/* A proxy's settings are reloaded under their lock. Workers copy the upstream's name under that
 * lock, but read the timeout without it ("an int cannot be torn"), before and after each copy. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct settings {
    pthread_mutex_t lock;
    char upstream[64];
    unsigned generation;
    int timeout_ms;
};

struct worker {
    struct settings *settings;
    pthread_t thread;
    long waited;
    unsigned last_generation;
};

static const char *const files[] = {
    "upstream=alpha.example;timeout=250",
    "upstream=beta.example;timeout=400",
    "upstream=gamma.example;timeout=90",
};

static int parse(const char *text, char *upstream, size_t size, int *timeout)
{
    const char *name = strchr(text, '='), *end = strchr(text, ';');
    if (!name || !end || (size_t)(end - name) > size)
        return -1;
    memcpy(upstream, name + 1, (size_t)(end - name - 1));
    upstream[end - name - 1] = '\0';
    return sscanf(end, ";timeout=%d", timeout) == 1 ? 0 : -1;
}

static void reload(struct settings *s, const char *text)
{
    char upstream[64];
    int timeout;
    if (parse(text, upstream, sizeof upstream, &timeout))
        return;
    pthread_mutex_lock(&s->lock);
    strcpy(s->upstream, upstream);
    s->generation++;
    s->timeout_ms = timeout; // RACE
    pthread_mutex_unlock(&s->lock);
}

static int current_timeout(const struct settings *s)
{
    return s->timeout_ms; // RACE
}

static void connect_upstream(struct worker *w)
{
    char name[64];
    pthread_mutex_lock(&w->settings->lock);
    strcpy(name, w->settings->upstream);
    w->last_generation = w->settings->generation;
    pthread_mutex_unlock(&w->settings->lock);
    w->waited += (long)strlen(name);
}

static void *relay(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < 20; i++) {
        w->waited += current_timeout(w->settings);
        connect_upstream(w);
        usleep(100);
    }
    w->waited += current_timeout(w->settings);
    return NULL;
}

static void *watch_file(void *arg)
{
    struct settings *s = arg;
    for (unsigned i = 1; i < sizeof files / sizeof files[0]; i++) {
        usleep(600);
        reload(s, files[i]);
    }
    return NULL;
}

int main(void)
{
    struct settings *s = calloc(1, sizeof *s);
    struct worker workers[2];
    pthread_t watcher;
    if (!s)
        return 1;
    pthread_mutex_init(&s->lock, NULL);
    reload(s, files[0]);
    memset(workers, 0, sizeof workers);
    for (int i = 0; i < 2; i++) {
        workers[i].settings = s;
        if (pthread_create(&workers[i].thread, NULL, relay, &workers[i]))
            abort();
    }
    if (pthread_create(&watcher, NULL, watch_file, s))
        abort();
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_join(watcher, NULL);
    printf("%s: %ld %ld, generations %u %u\n", s->upstream, workers[0].waited, workers[1].waited,
           workers[0].last_generation, workers[1].last_generation);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return 0;
}
