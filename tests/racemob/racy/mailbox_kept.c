/* SPDX-License-Identifier: Apache-2.0 */
/* A letter is still written upon after it was posted with all care. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

struct letter {
    int text, stamp;
};

static _Atomic(struct letter *) box;
static struct letter letter;

static void *post(void *arg)
{
    letter.text = next();                                          // NORACE
    atomic_exchange_explicit(&box, &letter, memory_order_acq_rel); // NORACE
    letter.stamp = next();                                         // RACE
    return arg;
}

static void *collect(void *arg)
{
    struct letter *got;
    while (!(got = atomic_exchange_explicit(&box, NULL, memory_order_acq_rel))) // NORACE
        sched_yield();
    keep((unsigned long)got->text); // NORACE
    got->stamp = next();            // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&b, collect, NULL);
    start(&a, post, NULL);
    finish(a);
    finish(b);
    return 0;
}
