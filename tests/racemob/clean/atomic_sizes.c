/* SPDX-License-Identifier: Apache-2.0 */
/* Release and acquire through atomics of 8, 16, 32 and 64 bits that are neighbours in one word or
 * line; each guards data of its own. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

static struct {
    _Atomic uint8_t byte;
    _Atomic uint8_t other_byte;
    _Atomic uint16_t half;
    _Atomic uint32_t word;
    _Atomic uint64_t twice;
} flags;
static int data[5];

static void *send(void *arg)
{
    data[0] = 1;
    atomic_store_explicit(&flags.byte, 1, memory_order_release);
    data[1] = 2;
    atomic_fetch_or_explicit(&flags.other_byte, 4, memory_order_release);
    data[2] = 3;
    atomic_fetch_add_explicit(&flags.half, 300, memory_order_acq_rel);
    data[3] = 4;
    atomic_exchange_explicit(&flags.word, 70000, memory_order_release);
    data[4] = 5;
    atomic_store_explicit(&flags.twice, (uint64_t)1 << 40, memory_order_release);
    return arg;
}

static void *receive(void *arg)
{
    while (!atomic_load_explicit(&flags.byte, memory_order_acquire))
        sched_yield();
    must(data[0] == 1);
    data[0] = 0;
    while (!(atomic_fetch_and_explicit(&flags.other_byte, 4, memory_order_acquire) & 4))
        sched_yield();
    must(data[1] == 2);
    data[1] = 0;
    while (atomic_load_explicit(&flags.half, memory_order_acquire) < 300)
        sched_yield();
    must(data[2] == 3);
    data[2] = 0;
    while (atomic_load_explicit(&flags.word, memory_order_acquire) < 70000)
        sched_yield();
    must(data[3] == 4);
    data[3] = 0;
    while (!(atomic_load_explicit(&flags.twice, memory_order_acquire) >> 40))
        sched_yield();
    must(data[4] == 5);
    data[4] = 0;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&b, receive, NULL);
    start(&a, send, NULL);
    finish(a);
    finish(b);
    return 0;
}
