/* SPDX-License-Identifier: Apache-2.0 */
/* A double word is changed as a whole and looked at by halves: an update that acquires through one
 * half releases through the other, too. */
#include "../program.h"
#include <sched.h>

typedef unsigned __int128 pair;

static union {
    pair both;
    unsigned long half[2];
} word;
static int message;

static void *send(void *arg)
{
    message = 42;
    __atomic_store_n(&word.half[0], 1, __ATOMIC_RELEASE);
    return arg;
}

static void *pass_on(void *arg)
{
    pair seen = 1;
    while (!__sync_bool_compare_and_swap(&word.both, seen, seen | (pair)1 << 64))
        sched_yield();
    return arg;
}

static void *receive(void *arg)
{
    while (!__atomic_load_n(&word.half[1], __ATOMIC_ACQUIRE))
        sched_yield();
    must(message == 42);
    message = 0;
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    start(&c, receive, NULL);
    start(&b, pass_on, NULL);
    start(&a, send, NULL);
    finish(a);
    finish(b);
    finish(c);
    return 0;
}
// OPTIONS: -mcx16
