/* A relaxed store of another thread, not a read-modify-write, takes the place of the release store:
 * whoever acquires that is ordered behind nothing. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

static atomic_int flag;
static int message;

static void *head(void *arg)
{
    message = next();                                      // RACE
    atomic_store_explicit(&flag, 1, memory_order_release); // NORACE
    return arg;
}

static void *middle(void *arg)
{
    while (atomic_load_explicit(&flag, memory_order_relaxed) != 1) // NORACE
        sched_yield();
    atomic_store_explicit(&flag, 2, memory_order_relaxed); // NORACE
    return arg;
}

static void *tail(void *arg)
{
    while (atomic_load_explicit(&flag, memory_order_acquire) != 2) // NORACE
        nap(500);
    keep((unsigned long)message); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    start(&b, middle, NULL);
    start(&a, head, NULL);
    nap(3000); /* a tail that saw the 1 would be ordered */
    start(&c, tail, NULL);
    finish(a);
    finish(b);
    finish(c);
    return 0;
}
// TSAN: misses, to it a relaxed store leaves the order of the release before it in place
