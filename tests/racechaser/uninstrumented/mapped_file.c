/* SPDX-License-Identifier: Apache-2.0 */
/* No race between threads: a private mapping shows what is written to its file. */
#include "subject.h"
#include <stdio.h>
#include <sys/mman.h>

static const long *value;
static int over;
static FILE *file;

static void *reset(void *arg)
{
    *(long *)(unsigned long)value = 0;
    return arg;
}

static void *look(void *arg)
{
    for (int i = 0; i < LOOKS; i++) {
        keep((unsigned long)*value);
        rest();
    }
    tell(&over, 1);
    return arg;
}

static void *change(void *arg)
{
    for (long i = 1; !__atomic_load_n(&over, __ATOMIC_RELAXED); i++) {
        must(pwrite(fileno(file), &i, sizeof i, 0) == sizeof i);
        rest();
    }
    return arg;
}

int main(void)
{
    long first = 0;
    pthread_t a, b, never;
    file = tmpfile();
    must(file && pwrite(fileno(file), &first, sizeof first, 0) == sizeof first);
    value = mmap(NULL, sizeof first, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
    must(value != MAP_FAILED);
    if (unforeseen(0))
        start(&never, reset, NULL);
    start(&a, look, NULL);
    start(&b, change, NULL);
    finish(a);
    finish(b);
    return 0;
}
