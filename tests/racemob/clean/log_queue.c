/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: a producer fills in its line, exchanges the tail (acq_rel) and links the line into its
 * predecessor with a release store; the writer follows the links with acquire loads. A line is
 * freed only after its link was seen, which was the last that any producer did with it. */
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRODUCERS 3
#define LINES     25

struct line {
    _Atomic(struct line *) next;
    int level;
    char text[56];
};

struct log {
    _Atomic(struct line *) tail; /* producers */
    struct line *head;           /* the writer: a line that was written already */
    size_t bytes;
    unsigned by_level[4];
};

struct producer {
    struct log *log;
    int number;
};

static struct line *line_new(int level)
{
    struct line *l = malloc(sizeof *l);
    if (!l)
        abort();
    atomic_init(&l->next, NULL);
    l->level = level;
    l->text[0] = '\0';
    return l;
}

static void log_init(struct log *log)
{
    log->head = line_new(0);
    atomic_init(&log->tail, log->head);
    log->bytes = 0;
    memset(log->by_level, 0, sizeof log->by_level);
}

__attribute__((format(printf, 3, 4))) static void log_put(struct log *log, int level,
                                                          const char *format, ...)
{
    struct line *l = line_new(level);
    va_list args;
    va_start(args, format);
    vsnprintf(l->text, sizeof l->text, format, args);
    va_end(args);
    struct line *before = atomic_exchange_explicit(&log->tail, l, memory_order_acq_rel);
    atomic_store_explicit(&before->next, l, memory_order_release);
}

static struct line *log_next(struct log *log)
{
    struct line *next = atomic_load_explicit(&log->head->next, memory_order_acquire);
    if (next) {
        free(log->head);
        log->head = next;
    }
    return next;
}

static void *write_lines(void *arg)
{
    struct log *log = arg;
    for (int written = 0; written < PRODUCERS * LINES;) {
        struct line *l = log_next(log);
        if (!l) {
            sched_yield();
            continue;
        }
        log->bytes += strlen(l->text);
        log->by_level[l->level]++;
        written++;
    }
    return NULL;
}

static void *produce(void *arg)
{
    struct producer *p = arg;
    for (int i = 0; i < LINES; i++)
        log_put(p->log, i % 4, "producer %d: step %d of %d", p->number, i, LINES);
    return NULL;
}

int main(void)
{
    struct log log;
    struct producer producers[PRODUCERS];
    pthread_t threads[PRODUCERS], writer;
    log_init(&log);
    if (pthread_create(&writer, NULL, write_lines, &log))
        abort();
    for (int i = 0; i < PRODUCERS; i++) {
        producers[i] = (struct producer){&log, i};
        if (pthread_create(&threads[i], NULL, produce, &producers[i]))
            abort();
    }
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(writer, NULL);
    printf("%zu bytes; levels %u %u %u %u\n", log.bytes, log.by_level[0], log.by_level[1],
           log.by_level[2], log.by_level[3]);
    free(log.head);
    return 0;
}
