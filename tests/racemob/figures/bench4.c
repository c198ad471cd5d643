/* SPDX-License-Identifier: Apache-2.0 */
/* The fourth of the paper's benchmarks: three races, on x, y and z, each of which only one input
 * leads to. No other input leads to any. */
#include "../program.h"

static int x, y, z;
static const char *input = "";

/* Functions of their own, lest the optimiser make one access of the three. */
static NOINLINE void add_to_x(int value)
{
    x += value; // RACE: x
}

static NOINLINE void add_to_y(int value)
{
    y += value; // RACE: y
}

static NOINLINE void add_to_z(int value)
{
    z += value; // RACE: z
}

static NOINLINE void work(int value)
{
    if (!strcmp(input, "in1"))
        add_to_x(value);
    else if (!strcmp(input, "in2"))
        add_to_y(value);
    else if (!strcmp(input, "in3"))
        add_to_z(value);
}

static void *t0(void *arg)
{
    work(next());
    return arg;
}

static void *t1(void *arg)
{
    work(next() + 1);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    if (argc > 1)
        input = argv[1]; // NORACE
    start(&a, t0, NULL);
    start(&b, t1, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(x + y + z)); // NORACE
    return 0;
}
// ARGS: in1 -> x
// ARGS: in2 -> y
// ARGS: in3 -> z
// ARGS: in4 ->
