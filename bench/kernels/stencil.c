/* SPDX-License-Identifier: Apache-2.0 */
/* Currents in a square sea by red and black relaxation, with barriers between the colours: the
 * pattern of Ocean. Every thread has a band of rows and reads the rows beside it.
 *
 * The races are on what is only looked at: the first thread says which round it is in, the others
 * read that without waiting for it to be said; and all of them note the last row they finished in
 * one variable. */
#include "kernel.h"

#define SIDE 512

static double sea[SIDE + 2][SIDE + 2];
static long rounds, thread_count, current_round, last_row, lead;
static pthread_barrier_t colour_done;
static pthread_mutex_t sum_lock = PTHREAD_MUTEX_INITIALIZER;
static double residual;

static double relax(long row, int colour)
{
    double change = 0;
    for (long col = 1 + (row + colour) % 2; col <= SIDE; col += 2) {
        double new =
            (sea[row - 1][col] + sea[row + 1][col] + sea[row][col - 1] + sea[row][col + 1]) / 4;
        double by = new - sea[row][col];
        sea[row][col] = new;
        change += by * by;
    }
    return change;
}

static double relax_band(long first, long end, int colour)
{
    double change = 0;
    for (long row = first + 1; row <= end; row++) {
        change += relax(row, colour);
        last_row = row; // RACE: row
    }
    return change;
}

static void add_residual(double change)
{
    pthread_mutex_lock(&sum_lock);
    residual += change;
    pthread_mutex_unlock(&sum_lock);
}

static void *work(void *arg)
{
    long self = (long)arg, first, end, ahead = 0;
    share(SIDE, self, thread_count, &first, &end);
    for (long round = 0; round < rounds; round++) {
        if (self == 0)
            current_round = round; // RACE: round
        else
            ahead += round > current_round; // RACE: round
        double change = relax_band(first, end, 0);
        pthread_barrier_wait(&colour_done);
        change += relax_band(first, end, 1);
        if (pthread_barrier_wait(&colour_done) == PTHREAD_BARRIER_SERIAL_THREAD)
            residual = 0;
        pthread_barrier_wait(&colour_done);
        add_residual(change);
    }
    pthread_mutex_lock(&sum_lock);
    lead += ahead;
    pthread_mutex_unlock(&sum_lock);
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = argument(argc, argv, 1, 1, 1000000);
    thread_count = argument(argc, argv, 2, 1, MOST_THREADS);
    for (int i = 0; i < SIDE + 2; i++)
        sea[0][i] = 1;
    pthread_barrier_init(&colour_done, NULL, (unsigned)thread_count);
    run_threads(thread_count, work);
    for (int row = 1; row <= SIDE; row++)
        for (int col = 1; col <= SIDE / 2; col++) {
            double other = sea[row][SIDE + 1 - col];
            check(sea[row][col] <= sea[row - 1][col] + 1e-12,
                  "the current grows away from its source");
            check(sea[row][col] >= 0 && other >= 0 && other <= 1, "the current leaves its bounds");
        }
    check(residual > 0 && residual < (double)SIDE, "the sea does not come to rest");
    check(lead >= 0 && last_row > 0, "no row was done");
    return 0;
}
