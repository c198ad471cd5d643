/* SPDX-License-Identifier: Apache-2.0 */
/* Points that arrive in a stream are given to centres, in phases that end at barriers: the pattern
 * of streamcluster. The first thread opens a centre where points are far from all others; the rest
 * decide together whether it pays.
 *
 * There is no race: all order comes from barriers, which a tool must understand to be silent. */
#include "kernel.h"

#define DIMENSIONS 16
#define BLOCK      2048
#define MOST       64

static float points[BLOCK][DIMENSIONS];
static float centres[MOST][DIMENSIONS];
static int nearest[BLOCK];
static float cost[BLOCK];
static double gains[MOST_THREADS], spent[MOST_THREADS];
static int centre_count, tried;
static long blocks, thread_count;
static pthread_barrier_t phase;

static float distance(const float *a, const float *b)
{
    float sum = 0;
    for (int i = 0; i < DIMENSIONS; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

static void fill(long block, long first, long end)
{
    uint64_t seed = (uint64_t)(block * BLOCK + first) * 77;
    for (long p = first; p < end; p++) {
        float cloud = (float)(next_random(&seed) % 16);
        for (int i = 0; i < DIMENSIONS; i++)
            points[p][i] = cloud + (float)next_fraction(&seed);
    }
}

static void assign(long first, long end)
{
    for (long p = first; p < end; p++) {
        cost[p] = distance(points[p], centres[0]);
        nearest[p] = 0;
        for (int c = 1; c < centre_count; c++) {
            float far = distance(points[p], centres[c]);
            if (far < cost[p]) {
                cost[p] = far;
                nearest[p] = c;
            }
        }
    }
}

/* What the points of a thread would gain by the centre that is tried. */
static double gain(long first, long end)
{
    double sum = 0;
    for (long p = first; p < end; p++) {
        float far = distance(points[p], centres[tried]);
        sum += far < cost[p] ? cost[p] - far : 0;
    }
    return sum;
}

static void propose(void)
{
    int worst = 0;
    for (int p = 1; p < BLOCK; p++)
        worst = cost[p] > cost[worst] ? p : worst;
    tried = centre_count < MOST ? centre_count : MOST - 1;
    memcpy(centres[tried], points[worst], sizeof(centres[tried]));
}

static void decide(void)
{
    double sum = 0;
    for (long i = 0; i < thread_count; i++)
        sum += gains[i];
    if (sum > BLOCK && centre_count < MOST)
        centre_count++;
}

static void *work(void *arg)
{
    long self = (long)arg, first, end;
    share(BLOCK, self, thread_count, &first, &end);
    for (long block = 0; block < blocks; block++) {
        fill(block, first, end);
        pthread_barrier_wait(&phase);
        assign(first, end);
        pthread_barrier_wait(&phase);
        if (self == 0)
            propose();
        pthread_barrier_wait(&phase);
        gains[self] = gain(first, end);
        pthread_barrier_wait(&phase);
        if (self == 0)
            decide();
        pthread_barrier_wait(&phase);
        assign(first, end);
        for (long p = first; p < end; p++)
            spent[self] += cost[p];
    }
    return NULL;
}

int main(int argc, char **argv)
{
    blocks = argument(argc, argv, 1, 1, 1000000);
    thread_count = argument(argc, argv, 2, 1, MOST_THREADS);
    centre_count = 1;
    pthread_barrier_init(&phase, NULL, (unsigned)thread_count);
    run_threads(thread_count, work);
    double sum = 0;
    for (long i = 0; i < thread_count; i++)
        sum += spent[i];
    check(centre_count > 1 || blocks < 4, "no centre was opened");
    for (int p = 0; p < BLOCK; p++)
        check(nearest[p] < centre_count && cost[p] >= 0, "a point without a centre");
    check(sum > 0, "nothing was spent");
    return 0;
}
