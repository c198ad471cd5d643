/* SPDX-License-Identifier: Apache-2.0 */
/* pthread_once runs the set-up before every reader that calls it; one reader does not. */
#include "program.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int table;

static void set_up(void)
{
    table = next(); // RACE
}

static void *careful(void *arg)
{
    pthread_once(&once, set_up);
    keep((unsigned long)table);
    return arg;
}

static void *careless(void *arg)
{
    keep((unsigned long)table); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    start(&a, careful, NULL);
    start(&b, careful, NULL);
    start(&c, careless, NULL);
    finish(a);
    finish(b);
    finish(c);
    return 0;
}
