/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that only the thread that made it can reach: heap, stack given to a callee, and a
 * thread's own data kept by the library. */
#include "program.h"

static pthread_key_t key;

static NOINLINE void add(int *sum, int n)
{
    *sum += n; // NORACE
}

static NOINLINE void use_own(void)
{
    int *mine = pthread_getspecific(key);
    *mine += next(); // NORACE
}

static void *work(void *arg)
{
    int local = next();
    add(&local, 3);
    int *heap = malloc(sizeof *heap);
    if (!heap)
        abort();
    *heap = local; // NORACE
    add(heap, 4);
    keep((unsigned long)*heap); // NORACE
    int *mine = calloc(1, sizeof *mine);
    if (!mine)
        abort();
    pthread_setspecific(key, mine);
    use_own();
    free(heap);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_key_create(&key, free);
    start(&a, work, NULL);
    start(&b, work, NULL);
    finish(a);
    finish(b);
    return 0;
}
