/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: the queue and all results are touched under the pool's mutex only. A worker that is
 * cancelled while it waits for the condition owns the mutex again when its cleanup handlers run;
 * the inner one unlocks it, the outer one locks it once more to sign off. Main reads after the
 * joins. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define WORKERS 3
#define JOBS    30

struct job {
    int number;
    int (*compute)(int);
    struct job *next;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t filled, finished;
    struct job *first, **last;
    int done, signed_off;
    long sum;
};

static int square(int n)
{
    return n * n;
}

static int collatz(int n)
{
    int steps = 0;
    for (n++; n > 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

static void unlock(void *lock)
{
    pthread_mutex_unlock(lock);
}

static void sign_off(void *arg)
{
    struct pool *p = arg;
    pthread_mutex_lock(&p->lock);
    p->signed_off++;
    pthread_mutex_unlock(&p->lock);
}

static struct job *next_job(struct pool *p)
{
    struct job *j;
    pthread_mutex_lock(&p->lock);
    pthread_cleanup_push(unlock, &p->lock);
    while (!p->first)
        pthread_cond_wait(&p->filled, &p->lock);
    j = p->first;
    p->first = j->next;
    if (!p->first)
        p->last = &p->first;
    pthread_cleanup_pop(1);
    return j;
}

static void run_job(struct pool *p, struct job *j)
{
    int state, result = j->compute(j->number);
    free(j);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_mutex_lock(&p->lock);
    p->sum += result;
    if (++p->done == JOBS)
        pthread_cond_signal(&p->finished);
    pthread_mutex_unlock(&p->lock);
    pthread_setcancelstate(state, NULL);
}

static void *worker(void *arg)
{
    struct pool *p = arg;
    pthread_cleanup_push(sign_off, p);
    for (;;)
        run_job(p, next_job(p));
    pthread_cleanup_pop(0);
    return NULL;
}

static void submit(struct pool *p, int number)
{
    struct job *j = malloc(sizeof *j);
    if (!j)
        abort();
    *j = (struct job){number, number % 2 ? square : collatz, NULL};
    pthread_mutex_lock(&p->lock);
    *p->last = j;
    p->last = &j->next;
    pthread_cond_signal(&p->filled);
    pthread_mutex_unlock(&p->lock);
}

int main(void)
{
    struct pool *p = calloc(1, sizeof *p);
    pthread_t threads[WORKERS];
    int cancelled = 0;
    if (!p)
        return 1;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->filled, NULL);
    pthread_cond_init(&p->finished, NULL);
    p->last = &p->first;
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&threads[i], NULL, worker, p))
            abort();
    for (int i = 0; i < JOBS; i++)
        submit(p, i);
    pthread_mutex_lock(&p->lock);
    while (p->done < JOBS)
        pthread_cond_wait(&p->finished, &p->lock);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < WORKERS; i++)
        pthread_cancel(threads[i]);
    for (int i = 0; i < WORKERS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    printf("sum %ld, %d cancelled, %d signed off\n", p->sum, cancelled, p->signed_off);
    int wrong = p->signed_off != cancelled;
    pthread_cond_destroy(&p->finished);
    pthread_cond_destroy(&p->filled);
    pthread_mutex_destroy(&p->lock);
    free(p);
    return wrong;
}
