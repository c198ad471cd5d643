/* SPDX-License-Identifier: Apache-2.0 */
/* Two flags of 32 bits are released one by one, and acquired together by one load of 64 bits
 * over both, as some reference counts do. The language has no word for it; on every machine that
 * has such an access it orders as one of equal size does. ThreadSanitizer is wrong here: to it
 * each access orders by its own address alone. */
#include "../program.h"
#include <sched.h>
#include <stdint.h>

static union {
    uint64_t both;
    struct {
        uint32_t low, high;
    } one;
} flags;
static int left, right;

static void *send_left(void *arg)
{
    left = 1;
    __atomic_store_n(&flags.one.low, 1, __ATOMIC_RELEASE);
    return arg;
}

static void *send_right(void *arg)
{
    right = 2;
    __atomic_store_n(&flags.one.high, 1, __ATOMIC_RELEASE);
    return arg;
}

static void *receive(void *arg)
{
    while (__atomic_load_n(&flags.both, __ATOMIC_ACQUIRE) != 0x100000001u)
        sched_yield();
    must(left == 1 && right == 2);
    left = right = 0;
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    start(&c, receive, NULL);
    start(&a, send_left, NULL);
    start(&b, send_right, NULL);
    finish(a);
    finish(b);
    finish(c);
    return 0;
}
// TSAN: wrong, to it each access orders by its own address alone
