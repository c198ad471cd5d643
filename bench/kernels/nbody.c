/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies that attract each other through the cells of a grid, with a lock in each cell: the pattern
 * of Barnes and Fmm. Each step, bodies are put into the cells under the cells' locks, then every
 * body is moved by what the cells weigh.
 *
 * The races are those of Barnes' tree: a cell is looked at without its lock to see whether somebody
 * has claimed it in this step, and looked at again under the lock; and the farthest move is kept in
 * a global that nobody guards. */
#include "kernel.h"

#define SIDE 32

struct cell {
    pthread_mutex_t lock;
    long step; /* in which the sums were begun */
    double mass, x, y;
};

struct body {
    double mass, x, y, vx, vy;
};

static struct cell cells[SIDE][SIDE];
static struct body *bodies;
static long body_count, steps, thread_count;
static double farthest;
static pthread_barrier_t phase;

static int column(double position)
{
    int at = (int)(position * SIDE);
    return at < 0 ? 0 : at >= SIDE ? SIDE - 1 : at;
}

static void put(const struct body *b, long step)
{
    struct cell *c = &cells[column(b->y)][column(b->x)];
    int fresh = c->step != step; // RACE: claim
    pthread_mutex_lock(&c->lock);
    if (fresh && c->step != step) {
        c->mass = c->x = c->y = 0;
        c->step = step; // RACE: claim
    }
    c->mass += b->mass;
    c->x += b->mass * b->x;
    c->y += b->mass * b->y;
    pthread_mutex_unlock(&c->lock);
}

static void pull(struct body *b, const struct cell *c)
{
    double dx = c->x / c->mass - b->x, dy = c->y / c->mass - b->y;
    double near = 1e-3 + dx * dx + dy * dy;
    b->vx += 1e-9 * c->mass * dx / near;
    b->vy += 1e-9 * c->mass * dy / near;
}

static double fold(double position)
{
    return position < 0 ? position + 1 : position >= 1 ? position - 1 : position;
}

/* How far it went, squared. */
static double move(struct body *b, long step)
{
    for (int r = 0; r < SIDE; r++)
        for (int c = 0; c < SIDE; c++)
            if (cells[r][c].step == step)
                pull(b, &cells[r][c]);
    b->x = fold(b->x + b->vx);
    b->y = fold(b->y + b->vy);
    return b->vx * b->vx + b->vy * b->vy;
}

static void note(double moved)
{
    if (moved > farthest) // RACE: farthest
        farthest = moved; // RACE: farthest, farthest twice
}

static void *work(void *arg)
{
    long first, end;
    share(body_count, (long)arg, thread_count, &first, &end);
    for (long step = 1; step <= steps; step++) {
        for (long i = first; i < end; i++)
            put(&bodies[i], step);
        pthread_barrier_wait(&phase);
        double most = 0;
        for (long i = first; i < end; i++) {
            double moved = move(&bodies[i], step);
            most = moved > most ? moved : most;
        }
        note(most);
        pthread_barrier_wait(&phase);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    steps = argument(argc, argv, 1, 1, 1000000);
    thread_count = argument(argc, argv, 2, 1, MOST_THREADS);
    body_count = 4096;
    bodies = allocate((size_t)body_count, sizeof(*bodies));
    for (long i = 0; i < body_count; i++)
        bodies[i] = (struct body){1, next_fraction(&seed), next_fraction(&seed), 0, 0};
    for (int i = 0; i < SIDE * SIDE; i++)
        pthread_mutex_init(&cells[i / SIDE][i % SIDE].lock, NULL);
    pthread_barrier_init(&phase, NULL, (unsigned)thread_count);
    run_threads(thread_count, work);
    double mass = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        if (cells[i / SIDE][i % SIDE].step == steps)
            mass += cells[i / SIDE][i % SIDE].mass;
    check(mass == (double)body_count, "the cells do not hold all bodies");
    check(farthest > 0 && farthest < 1, "the bodies do not move");
    free(bodies);
    return 0;
}
