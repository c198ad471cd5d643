/* SPDX-License-Identifier: Apache-2.0 */
/* A GThreadPool runs jobs, each with a result of its own; they are handed over through the pool's
 * queue, and the last of all tells main through a GCond. */
// NEEDS: pkg:glib-2.0
#include <glib.h>

#include "../../racemob/program.h"

enum { JOBS = 24 };

struct job {
    int first, count;
    long sum;
};

static struct job jobs[JOBS];
static int left = JOBS;
static GMutex lock;
static GCond none_left;

static void work(gpointer data, gpointer user)
{
    struct job *job = data;
    for (int i = 0; i < job->count; i++)
        job->sum += job->first + i;
    g_mutex_lock(&lock);
    if (--left == 0)
        g_cond_signal(&none_left);
    g_mutex_unlock(&lock);
    (void)user;
}

int main(void)
{
    long all = 0;
    GThreadPool *pool = g_thread_pool_new(work, NULL, 3, TRUE, NULL);
    for (int i = 0; i < JOBS; i++) {
        jobs[i].first = unforeseen(i);
        jobs[i].count = 20;
        g_thread_pool_push(pool, &jobs[i], NULL);
    }
    g_mutex_lock(&lock);
    while (left)
        g_cond_wait(&none_left, &lock);
    g_mutex_unlock(&lock);
    for (int i = 0; i < JOBS; i++)
        all += jobs[i].sum;
    g_thread_pool_free(pool, FALSE, TRUE);
    keep((unsigned long)all);
    return 0;
}
