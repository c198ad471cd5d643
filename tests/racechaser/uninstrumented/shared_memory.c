/* SPDX-License-Identifier: Apache-2.0 */
/* No race between threads: another process writes to memory that the two share. */
#include "subject.h"
#include <sys/mman.h>
#include <sys/wait.h>

static long *value;
static int *over;

static void *reset(void *arg)
{
    *value = 0;
    return arg;
}

static void *look(void *arg)
{
    for (int i = 0; i < LOOKS; i++) {
        keep((unsigned long)*value);
        rest();
    }
    tell(over, 1);
    return arg;
}

static void write_on(void)
{
    for (long i = 1; !__atomic_load_n(over, __ATOMIC_RELAXED); i++) {
        copy_of_libc(value, &i, sizeof i);
        rest();
    }
}

int main(void)
{
    pthread_t a, never;
    value = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(value != MAP_FAILED);
    over = (int *)(value + 1);
    pid_t child = fork();
    if (child == 0) {
        write_on();
        _exit(0);
    }
    if (unforeseen(0))
        start(&never, reset, NULL);
    start(&a, look, NULL);
    finish(a);
    must(waitpid(child, NULL, 0) == child);
    return 0;
}
