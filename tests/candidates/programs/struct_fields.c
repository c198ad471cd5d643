/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread has a field of its own in one struct; only the last is shared. */
#include "program.h"

static struct {
    int of_a, of_b;
    struct {
        long of_a, of_b;
    } inner;
    int shared;
} fields;

static void *work_a(void *arg)
{
    fields.of_a += next();       // NORACE
    fields.inner.of_a += next(); // NORACE
    fields.shared += next();     // RACE
    return arg;
}

static void *work_b(void *arg)
{
    fields.of_b += next();       // NORACE
    fields.inner.of_b += next(); // NORACE
    fields.shared -= next();     // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, work_a, NULL);
    start(&b, work_b, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(fields.of_a + fields.of_b + fields.shared));
    keep((unsigned long)(fields.inner.of_a + fields.inner.of_b));
    return 0;
}
