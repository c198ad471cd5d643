/* SPDX-License-Identifier: Apache-2.0 */
/* call_once of C11: what the function writes is before the return of every call. */
#include "../program.h"
#include <threads.h>

static once_flag once = ONCE_FLAG_INIT;
static long value;
static int stage;

static void set(void)
{
    value = 11;
}

static int early(void *arg)
{
    (void)arg;
    call_once(&once, set);
    must(value == 11);
    tell(&stage, 1);
    return 0;
}

static int late(void *arg)
{
    (void)arg;
    await(&stage, 1);
    call_once(&once, set);
    must(value == 11);
    return 0;
}

int main(void)
{
    thrd_t a, b;
    must(thrd_create(&a, late, NULL) == thrd_success);
    must(thrd_create(&b, early, NULL) == thrd_success);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    return 0;
}
