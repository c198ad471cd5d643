/* SPDX-License-Identifier: Apache-2.0 */
/* Only the branch in which trylock succeeds holds the lock. */
#include "program.h"

static int guarded, tries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE void give_up(void)
{
    tries += next(); // RACE
}

static void *attempt(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        if (pthread_mutex_trylock(&lock) == 0) {
            guarded += next(); // NORACE
            pthread_mutex_unlock(&lock);
        } else {
            give_up();
        }
    }
    give_up();
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, attempt, NULL);
    start(&b, attempt, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(guarded + tries));
    return 0;
}
