/* SPDX-License-Identifier: Apache-2.0 */
/* Whole structs copied by assignment while one member is written. */
#include "program.h"

struct state {
    int a, b;
    long c[6];
};

static struct state current;

static NOINLINE void use(const struct state *s)
{
    keep((unsigned long)(s->a + s->b + s->c[0] + s->c[3] + s->c[5]));
}

static void *take_copy(void *arg)
{
    struct state copy;
    copy = current; // RACE
    use(&copy);
    return arg;
}

static void *change(void *arg)
{
    current.c[3] = next(); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, take_copy, NULL);
    start(&b, change, NULL);
    finish(a);
    finish(b);
    use(&current);
    return 0;
}
