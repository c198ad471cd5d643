/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic accesses and fences of C11 are sites with their kind. */
#include <stdatomic.h>

_Atomic int flag;
_Atomic long total;
atomic_flag lock = ATOMIC_FLAG_INIT;
int data;

__attribute__((noinline)) static void publish(int v)
{
    data = v;                                              // SITE write data
    atomic_store_explicit(&flag, 1, memory_order_release); // SITE atomic write flag
}

__attribute__((noinline)) static int consume(void)
{
    while (!atomic_load_explicit(&flag, memory_order_acquire)) // SITE atomic read flag
        continue;
    return data; // SITE read data
}

__attribute__((noinline)) static void add(long v)
{
    atomic_fetch_add(&total, v); // SITE atomic update total
}

__attribute__((noinline)) static int exchange(void)
{
    long expected = 5;
    return atomic_compare_exchange_strong(&total, &expected, 6); // SITE atomic update total
}

__attribute__((noinline)) static void fence(void)
{
    atomic_thread_fence(memory_order_seq_cst); // SITE fence
}

__attribute__((noinline)) static void signal_fence(void)
{
    atomic_signal_fence(memory_order_seq_cst); // NOSITE
}

__attribute__((noinline)) static int try_lock(void)
{
    return !atomic_flag_test_and_set(&lock); // SITE atomic update lock._Value
}

int main(int argc, char **argv)
{
    (void)argv;
    publish(argc + 4);
    add(consume());
    fence();
    signal_fence();
    return exchange() && try_lock() ? 0 : 1;
}
