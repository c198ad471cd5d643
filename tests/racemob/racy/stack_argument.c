/* SPDX-License-Identifier: Apache-2.0 */
/* One struct on main's stack is the argument of all renderers; its row is overwritten for the next
 * one while the last may not have read it yet. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS    4
#define COLUMNS 48

struct picture {
    pthread_mutex_t lock;
    unsigned long inside;
    unsigned rows_done;
};

struct row_job {
    struct picture *picture;
    double scale;
    int row;
};

static unsigned escape_time(double cr, double ci)
{
    double r = 0, i = 0;
    unsigned n = 0;
    while (n < 60 && r * r + i * i < 4) {
        double next = r * r - i * i + cr;
        i = 2 * r * i + ci;
        r = next;
        n++;
    }
    return n;
}

static void *render_row(void *arg)
{
    const struct row_job *job = arg;
    int row = job->row; // RACE
    unsigned long sum = 0;
    for (int x = 0; x < COLUMNS; x++)
        sum += escape_time((x - COLUMNS * 0.7) * job->scale, row * job->scale);
    pthread_mutex_lock(&job->picture->lock);
    job->picture->inside += sum;
    job->picture->rows_done++;
    pthread_mutex_unlock(&job->picture->lock);
    return NULL;
}

static void start_row(struct row_job *job, int row, pthread_t *thread)
{
    job->row = row; // RACE
    if (pthread_create(thread, NULL, render_row, job))
        abort();
}

static unsigned long render(struct picture *p)
{
    struct row_job job = {.picture = p, .scale = 0.06};
    pthread_t threads[ROWS];
    for (int i = 0; i < ROWS; i++)
        start_row(&job, i * 3, &threads[i]);
    for (int i = 0; i < ROWS; i++)
        pthread_join(threads[i], NULL);
    return p->inside;
}

int main(void)
{
    struct picture *p = calloc(1, sizeof *p);
    if (!p)
        return 1;
    pthread_mutex_init(&p->lock, NULL);
    printf("%lu steps", render(p));
    printf(" in %u rows\n", p->rows_done);
    pthread_mutex_destroy(&p->lock);
    free(p);
    return 0;
}
// TSAN: misses, the accidental order is nearly always there
