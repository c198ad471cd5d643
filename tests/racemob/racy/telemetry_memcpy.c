/* SPDX-License-Identifier: Apache-2.0 */
/* A sensor thread updates a record under its lock; the display copies the whole record with memcpy
 * and forgets the lock. Two members of the record change while it is copied. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct record {
    char label[64];
    long sequence;
    char unit[24];
    double value;
    char remark[40];
};

struct sensor {
    pthread_mutex_t lock;
    struct record record;
    double (*sample)(long n);
    long updates;
};

static double saw_tooth(long n)
{
    return (double)(n % 10) * 1.5;
}

static void update(struct sensor *s, long n)
{
    double value = s->sample(n);
    pthread_mutex_lock(&s->lock);
    s->record.sequence = n;  // RACE: sequence
    s->record.value = value; // RACE: value
    s->updates++;
    pthread_mutex_unlock(&s->lock);
}

static void *measure(void *arg)
{
    struct sensor *s = arg;
    for (long n = 1; n <= 40; n++) {
        update(s, n);
        if (n % 8 == 0)
            usleep(100);
    }
    return NULL;
}

static void snapshot(const struct sensor *s, struct record *out)
{
    memcpy(out, &s->record, sizeof *out); // RACE: sequence, value
}

static void *display(void *arg)
{
    struct sensor *s = arg;
    char screen[200];
    size_t drawn = 0;
    for (int i = 0; i < 8; i++) {
        struct record r;
        snapshot(s, &r);
        int n = snprintf(screen, sizeof screen, "%s #%ld: %.1f %s (%s)", r.label, r.sequence,
                         r.value, r.unit, r.remark);
        drawn += n > 0 ? (size_t)n : 0;
        usleep(100);
    }
    return (void *)drawn;
}

int main(void)
{
    struct sensor *s = calloc(1, sizeof *s);
    pthread_t meter, screen;
    void *drawn;
    if (!s)
        return 1;
    pthread_mutex_init(&s->lock, NULL);
    s->sample = saw_tooth;
    strcpy(s->record.label, "coolant");
    strcpy(s->record.unit, "deg C");
    strcpy(s->record.remark, "calibrated");
    if (pthread_create(&screen, NULL, display, s) || pthread_create(&meter, NULL, measure, s))
        abort();
    pthread_join(meter, NULL);
    pthread_join(screen, &drawn);
    printf("%ld updates, drew %s characters\n", s->updates, drawn ? "some" : "no");
    pthread_mutex_destroy(&s->lock);
    free(s);
    return 0;
}
