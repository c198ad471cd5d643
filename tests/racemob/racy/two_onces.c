/* SPDX-License-Identifier: Apache-2.0 */
/* Two controls for the same function: it runs twice, perhaps at the same time. */
#include "../program.h"

static pthread_once_t first = PTHREAD_ONCE_INIT, second = PTHREAD_ONCE_INIT;
static long value;

static void set_up(void)
{
    value = next(); // RACE: set
}

static void *with_first(void *arg)
{
    pthread_once(&first, set_up);
    return arg;
}

static void *with_second(void *arg)
{
    pthread_once(&second, set_up);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, with_first, NULL);
    start(&b, with_second, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)value); // NORACE
    return 0;
}
