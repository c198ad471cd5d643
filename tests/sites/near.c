/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses that the optimiser leaves without a line of their own: they get the nearest one. A bit-
 * field that a loop adds to is read once, before the loop; writes of both branches are merged into
 * one behind them, as are reads into one before them; a parameter that must lie in memory is stored
 * by the compiler.
 */
#include <pthread.h>

struct flags {
    unsigned ready : 3, kind : 9, rest : 20;
};

static struct flags flags;
static int total, mode;

__attribute__((noinline)) static void add_kinds(struct flags *f, int n)
{
    for (int i = 0; i < n; i++)
        f->kind += (unsigned)i; // SITE near read; SITE write
}

__attribute__((noinline)) static int read_either(int c)
{
    if (c) // SITE near read total
        return total + 1;
    return total * 3;
}

__attribute__((noinline)) static void write_either(int c)
{
    if (c) // SITE near write mode
        mode = 4;
    else
        mode = 7;
}

static void *work(void *arg)
{
    int c = *(int *)arg;     // SITE read
    add_kinds(&flags, mode); // SITE read mode
    write_either(c);         // NOSITE
    total = read_either(c);  // SITE write total
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread; // SITE near write argc
    (void)argv;
    pthread_create(&thread, NULL, work, &argc);
    work(&argc);
    pthread_join(thread, NULL);
    return 0;
}
