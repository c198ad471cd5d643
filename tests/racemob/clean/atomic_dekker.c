/* SPDX-License-Identifier: Apache-2.0 */
/* Dekker's handshake: of two threads that each raise a flag and then look at the other's, all
 * sequentially consistent, at most one goes on. It retreats with a store that the next one reads.
 */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

enum { ROUNDS = 20 };

static atomic_int raised[2];
static long counter;

static void *work(void *arg)
{
    int me = arg != NULL;
    for (int done = 0; done < ROUNDS;) {
        atomic_store(&raised[me], 1);
        if (!atomic_load(&raised[!me])) {
            counter++;
            done++;
        }
        atomic_store(&raised[me], 0);
        nap(50 + 30 * me);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, work, NULL);
    start(&b, work, &counter);
    finish(a);
    finish(b);
    must(counter == 2 * ROUNDS);
    return 0;
}
