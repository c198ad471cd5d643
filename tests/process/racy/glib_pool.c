/* SPDX-License-Identifier: Apache-2.0 */
/* A GThreadPool runs jobs that add to a shared sum without a lock. */
// NEEDS: pkg:glib-2.0
#include <glib.h>

#include "../../racemob/program.h"

struct job {
    int first, count;
};

static long sum;

static void work(gpointer data, gpointer user)
{
    struct job *job = data;
    long *to = user;
    for (int i = 0; i < job->count; i++) {
        *to += job->first + i; // RACE
        nap(20);
    }
    g_free(job);
}

int main(void)
{
    GThreadPool *pool = g_thread_pool_new(work, &sum, 3, TRUE, NULL);
    for (int i = 0; i < 12; i++) {
        struct job *job = g_new(struct job, 1);
        job->first = unforeseen(i);
        job->count = 20;
        g_thread_pool_push(pool, job, NULL);
    }
    g_thread_pool_free(pool, FALSE, TRUE);
    keep((unsigned long)sum);
    return 0;
}
