/* SPDX-License-Identifier: Apache-2.0 */
/* A thread made by clone, of which libc knows nothing and which shares main's thread-local storage,
 * takes turns with main by a word of its own, and main waits for its end as libc would. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../racemob/program.h"

enum { STACK = 1 << 18, ROUNDS = 300 };

static int total, unlocked = 1;
static int alive = 1; /* the kernel clears it when the thread has ended */

static void take(void)
{
    while (!__atomic_exchange_n(&unlocked, 0, __ATOMIC_ACQUIRE))
        ;
}

static void release(void)
{
    __atomic_store_n(&unlocked, 1, __ATOMIC_RELEASE);
}

static int count(void *arg)
{
    int rounds = *(int *)arg;
    for (int i = 0; i < rounds; i++) {
        take();
        total += i;
        release();
    }
    total += 1; /* main has stopped by then, or waits */
    return 0;
}

int main(void)
{
    int rounds = unforeseen(ROUNDS);
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(stack != MAP_FAILED);
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                CLONE_CHILD_CLEARTID;
    total = 1;
    must(clone(count, stack + STACK, flags, &rounds, NULL, NULL, &alive) > 0);
    int seen;
    while ((seen = __atomic_load_n(&alive, __ATOMIC_ACQUIRE)))
        syscall(SYS_futex, &alive, FUTEX_WAIT, seen, NULL, NULL, 0);
    keep((unsigned long)total);
    return 0;
}
