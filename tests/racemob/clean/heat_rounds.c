/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: in each round every thread reads the old buffer and writes its own rows of the new
 * one; a barrier stands between rounds, in which the buffers change parts. The largest change is
 * combined between two barriers by the one thread that the first barrier calls serial. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS 3
#define ROWS    14 /* with the borders */
#define COLUMNS 16
#define ROUNDS  20

typedef double grid[ROWS][COLUMNS];

struct plate {
    grid buffers[2];
    pthread_barrier_t barrier;
    double change[WORKERS];
    double largest;
    int rounds, stopped;
};

struct band {
    struct plate *plate;
    int index, first, last;
};

static double relax_rows(grid old, grid new, int first, int last)
{
    double change = 0;
    for (int y = first; y < last; y++)
        for (int x = 1; x < COLUMNS - 1; x++) {
            double value = (old[y - 1][x] + old[y + 1][x] + old[y][x - 1] + old[y][x + 1]) / 4;
            double by = value > old[y][x] ? value - old[y][x] : old[y][x] - value;
            new[y][x] = value;
            if (by > change)
                change = by;
        }
    return change;
}

static void combine(struct plate *p)
{
    p->largest = 0;
    for (int i = 0; i < WORKERS; i++)
        if (p->change[i] > p->largest)
            p->largest = p->change[i];
    p->rounds++;
    p->stopped = p->largest < 1e-3;
}

static void *relax(void *arg)
{
    struct band *b = arg;
    struct plate *p = b->plate;
    for (int round = 0; round < ROUNDS; round++) {
        double *change = &p->change[b->index];
        *change = relax_rows(p->buffers[round % 2], p->buffers[(round + 1) % 2], b->first, b->last);
        if (pthread_barrier_wait(&p->barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            combine(p);
        pthread_barrier_wait(&p->barrier);
        if (p->stopped)
            break;
    }
    return NULL;
}

static void heat_up(struct plate *p)
{
    memset(p->buffers, 0, sizeof p->buffers);
    for (int b = 0; b < 2; b++)
        for (int x = 0; x < COLUMNS; x++) {
            p->buffers[b][0][x] = 100;
            p->buffers[b][ROWS - 1][x] = x;
        }
}

int main(void)
{
    struct plate *p = calloc(1, sizeof *p);
    struct band bands[WORKERS];
    pthread_t threads[WORKERS];
    if (!p || pthread_barrier_init(&p->barrier, NULL, WORKERS))
        return 1;
    heat_up(p);
    for (int i = 0; i < WORKERS; i++) {
        int each = (ROWS - 2) / WORKERS, first = 1 + i * each;
        bands[i] = (struct band){p, i, first, first + each};
        if (pthread_create(&threads[i], NULL, relax, &bands[i]))
            abort();
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    double middle = p->buffers[p->rounds % 2][ROWS / 2][COLUMNS / 2];
    printf("%d rounds, change %.4f, middle %.4f\n", p->rounds, p->largest, middle);
    pthread_barrier_destroy(&p->barrier);
    free(p);
    return !(middle > 0 && middle < 100);
}
