/* SPDX-License-Identifier: Apache-2.0 */
/* A shared library, with -DLIBRARY, and its program. The library reads and writes what two threads
 * share: its checks find the runtime's variables by another way than those of the executable. Both
 * threads read in turns, so that each finds the other's reads in front of its own. */
#include <pthread.h>
#include <stdint.h>

#define SIZE 1000

struct pair {
    int64_t a, b;
};

#ifdef LIBRARY
struct pair table[SIZE];
static char bytes[SIZE];
int64_t last;

int64_t sum_at(long i)
{
    struct pair p = table[i];
    return p.a + p.b + table[(i + 1) % SIZE].a + bytes[i];
}

void set_at(long i, int64_t value)
{
    table[i].b = value;
    bytes[i] = (char)value;
}

void set_last(int64_t value)
{
    last = value; // RACE
}
#else
int64_t sum_at(long i);
void set_at(long i, int64_t value);
void set_last(int64_t value);

static pthread_barrier_t turn;

static void *work(void *arg)
{
    int64_t sum = 0;
    for (int round = 0; round < 20; round++) {
        for (long i = 0; i < SIZE; i++)
            sum += sum_at(i);
        pthread_barrier_wait(&turn);
    }
    set_last(sum);
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    pthread_barrier_init(&turn, NULL, 2);
    for (long i = 0; i < SIZE; i++)
        set_at(i, i);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    set_at(0, 1);
    return 0;
}
#endif
