/* SPDX-License-Identifier: Apache-2.0 */
/* Fibres go from thread to thread: a fibre that has done a part of its work is put into a queue
 * under a lock, and the thread that takes it out goes on with it. What is on its stack, which all
 * threads use by turns, and in the memory that it points to, is ordered by the queue alone. The
 * stacks of fibres that have ended are used again for new ones. */
#include <pthread.h>
#include <ucontext.h>

#include "../../racemob/program.h"

enum { FIBRES = 6, STACK = 65536, PARTS = 8, THREADS = 3, GENERATIONS = 4 };

struct fibre {
    ucontext_t context;
    ucontext_t *home;
    long *sum; /* on its own stack */
    int parts, generations;
    char *stack;
};

static struct fibre fibres[FIBRES];
static struct fibre *queue[FIBRES];
static int queued, finished;
static long total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void pause_fibre(struct fibre *f)
{
    swapcontext(&f->context, f->home);
}

static void run_fibre(unsigned low, unsigned high)
{
    struct fibre *f = (struct fibre *)((unsigned long)high << 32 | low);
    long sum = 0;
    f->sum = &sum;
    for (f->parts = 0; f->parts < PARTS; f->parts++) {
        *f->sum += next() * f->parts;
        pause_fibre(f);
    }
    pthread_mutex_lock(&lock);
    total += sum;
    pthread_mutex_unlock(&lock);
    f->generations++;
    pause_fibre(f);
}

static void make_fibre(struct fibre *f)
{
    unsigned long address = (unsigned long)f;
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = STACK;
    f->context.uc_link = NULL;
    f->parts = 0;
    makecontext(&f->context, (void (*)(void))run_fibre, 2, (unsigned)address,
                (unsigned)(address >> 32));
}

static struct fibre *take(int *is_over)
{
    struct fibre *f = NULL;
    pthread_mutex_lock(&lock);
    if (queued > 0) {
        f = queue[0];
        for (int i = 1; i < queued; i++)
            queue[i - 1] = queue[i];
        queued--;
    }
    *is_over = finished == FIBRES;
    pthread_mutex_unlock(&lock);
    return f;
}

static void put(struct fibre *f)
{
    pthread_mutex_lock(&lock);
    if (f->generations == GENERATIONS)
        finished++;
    else
        queue[queued++] = f;
    pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
    ucontext_t home;
    int is_over;
    for (struct fibre *f = take(&is_over); !is_over; f = take(&is_over)) {
        if (!f) {
            nap(100);
            continue;
        }
        int before = f->generations;
        f->home = &home;
        swapcontext(&home, &f->context);
        if (f->generations > before)
            make_fibre(f);
        put(f);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < FIBRES; i++) {
        fibres[i].stack = malloc(STACK);
        make_fibre(&fibres[i]);
        put(&fibres[i]);
    }
    for (int i = 0; i < THREADS; i++)
        must(pthread_create(&threads[i], NULL, work, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < FIBRES; i++)
        free(fibres[i].stack);
    keep((unsigned long)total);
    return 0;
}
