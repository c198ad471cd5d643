/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers passed through a variable argument list. */
#include "program.h"
#include <stdarg.h>

static int shared, own_a, own_b;

static NOINLINE void add_to_all(int count, ...)
{
    va_list list;
    va_start(list, count);
    while (count--) {
        int *p = va_arg(list, int *);
        *p += next(); // RACE
    }
    va_end(list);
}

static void *work_a(void *arg)
{
    add_to_all(2, &own_a, &shared);
    return arg;
}

static void *work_b(void *arg)
{
    add_to_all(2, &shared, &own_b);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, work_a, NULL);
    start(&b, work_b, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(shared + own_a + own_b)); // NORACE
    return 0;
}
