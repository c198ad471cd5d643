/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads count, each in a variable of its own, until standard input closes. They enter their
 * functions once: that of the watched variable has two keys and so a twin, which its thread can
 * only reach by the gate of the loop that it is in already.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static atomic_bool stop;
long started, watched, unwatched;

static void *count_watched(void *arg)
{
    started++;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        watched++;
        __asm__ volatile("" ::: "memory"); /* so that the access stays in the loop */
    }
    return arg;
}

static void *count_unwatched(void *arg)
{
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        unwatched++;
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    char byte;
    pthread_create(&threads[0], NULL, count_watched, NULL);
    pthread_create(&threads[1], NULL, count_unwatched, NULL);
    while (read(0, &byte, 1) > 0)
        continue;
    atomic_store(&stop, true);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return started && watched && unwatched ? 0 : 1;
}
