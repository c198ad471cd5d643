/* SPDX-License-Identifier: Apache-2.0 */
/* A thread made by clone, of which libc knows nothing, counts beside main. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../racemob/program.h"

enum { STACK = 1 << 18 };

static int total;
static int alive = 1; /* the kernel clears it when the thread has ended */

static int count(void *arg)
{
    int rounds = *(int *)arg;
    for (int i = 0; i < rounds; i++) {
        total += i;                        // RACE
        __asm__ volatile("" ::: "memory"); /* or the loop would count in a register */
    }
    return 0;
}

int main(void)
{
    int rounds = unforeseen(2000000);
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(stack != MAP_FAILED);
    /* Without a thread pointer of its own it must call nothing of libc's. */
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                CLONE_CHILD_CLEARTID;
    must(clone(count, stack + STACK, flags, &rounds, NULL, NULL, &alive) > 0);
    for (int i = 0; i < 200; i++) {
        total += 1; // RACE
        nap(50);
    }
    int seen;
    while ((seen = __atomic_load_n(&alive, __ATOMIC_ACQUIRE)))
        syscall(SYS_futex, &alive, FUTEX_WAIT, seen, NULL, NULL, 0);
    keep((unsigned long)total);
    return 0;
}
