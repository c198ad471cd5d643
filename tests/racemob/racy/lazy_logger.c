/* SPDX-License-Identifier: Apache-2.0 */
/* The logger is made on first use with double-checked locking, the outer check being a plain read.
 * The reporter starts to log only when it hears from a relaxed counter that lines have been
 * written; so it finds the logger without ever taking the lock that made it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sink {
    char text[2048];
    size_t used;
};

struct logger {
    int threshold;
    char program[];
};

static struct logger *instance;
static pthread_mutex_t instance_lock = PTHREAD_MUTEX_INITIALIZER;

static struct sink shared_sink;
static pthread_mutex_t sink_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint lines_written;

static int default_threshold(void)
{
    const char *text = getenv("FRESH_LOG_LEVEL");
    return text ? atoi(text) : 2;
}

static struct logger *make_logger(void)
{
    const char *name = getenv("FRESH_LOG_NAME");
    if (!name)
        name = "fresh";
    struct logger *l = malloc(sizeof *l + strlen(name) + 1);
    if (!l)
        abort();
    strcpy(l->program, name);
    l->threshold = default_threshold(); // RACE: threshold
    return l;
}

static struct logger *get_logger(void)
{
    struct logger *l = instance; // RACE: instance
    if (l == NULL) {
        pthread_mutex_lock(&instance_lock);
        l = instance;
        if (l == NULL) {
            l = make_logger();
            instance = l; // RACE: instance
        }
        pthread_mutex_unlock(&instance_lock);
    }
    return l;
}

static void append(const char *line)
{
    size_t length = strlen(line);
    pthread_mutex_lock(&sink_lock);
    if (shared_sink.used + length < sizeof shared_sink.text) {
        memcpy(shared_sink.text + shared_sink.used, line, length);
        shared_sink.used += length;
    }
    pthread_mutex_unlock(&sink_lock);
}

static void log_line(int level, const char *who, int number)
{
    char line[80];
    struct logger *l = get_logger();
    if (level < l->threshold) // RACE: threshold
        return;
    snprintf(line, sizeof line, "%s: item %d\n", who, number);
    append(line);
    atomic_fetch_add_explicit(&lines_written, 1, memory_order_relaxed);
}

static void *work(void *arg)
{
    for (int i = 0; i < 12; i++)
        log_line(3 + i % 2, "worker", i);
    return arg;
}

static void *report(void *arg)
{
    while (atomic_load_explicit(&lines_written, memory_order_relaxed) == 0)
        usleep(200);
    for (int i = 0; i < 3; i++)
        log_line(i, "reporter", i);
    return arg;
}

int main(void)
{
    pthread_t worker, reporter;
    unsetenv("FRESH_LOG_LEVEL");
    if (pthread_create(&reporter, NULL, report, NULL) || pthread_create(&worker, NULL, work, NULL))
        abort();
    pthread_join(worker, NULL);
    pthread_join(reporter, NULL);
    printf("%s: %zu bytes in %u lines\n", instance->program, shared_sink.used,
           atomic_load(&lines_written));
    free(instance);
    return 0;
}
// APART
