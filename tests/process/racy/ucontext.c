/* SPDX-License-Identifier: Apache-2.0 */
/* Each of two threads runs four fibres by turns, on stacks from malloc. They count in common memory
 * without a lock: those of one thread are ordered by it, those of two are not. */
#include <pthread.h>
#include <ucontext.h>

#include "../../racemob/program.h"

enum { FIBRES = 4, STACK = 65536, ROUNDS = 25 };

static int turns;

struct scheduler {
    ucontext_t home, fibres[FIBRES];
    int current;
};

static _Thread_local struct scheduler *mine;

static void run_fibre(void)
{
    for (;;) {
        turns += next(); // RACE
        swapcontext(&mine->fibres[mine->current], &mine->home);
    }
}

static void *schedule(void *arg)
{
    struct scheduler s;
    mine = &s;
    for (int i = 0; i < FIBRES; i++) {
        getcontext(&s.fibres[i]);
        s.fibres[i].uc_stack.ss_sp = malloc(STACK);
        s.fibres[i].uc_stack.ss_size = STACK;
        s.fibres[i].uc_link = NULL;
        makecontext(&s.fibres[i], run_fibre, 0);
    }
    for (int i = 0; i < ROUNDS * FIBRES; i++) {
        s.current = i % FIBRES;
        swapcontext(&s.home, &s.fibres[s.current]);
        nap(50);
    }
    for (int i = 0; i < FIBRES; i++)
        free(s.fibres[i].uc_stack.ss_sp);
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        must(pthread_create(&threads[i], NULL, schedule, NULL) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    keep((unsigned long)turns);
    return 0;
}
