/* SPDX-License-Identifier: Apache-2.0 */
/* Threads and mutexes of C11. */
#include "program.h"
#include <threads.h>

static int racy, guarded;
static mtx_t lock;

static int work(void *arg)
{
    racy += next(); // RACE
    mtx_lock(&lock);
    guarded += next(); // NORACE
    mtx_unlock(&lock);
    return arg != NULL;
}

int main(void)
{
    thrd_t a, b;
    mtx_init(&lock, mtx_plain);
    if (thrd_create(&a, work, NULL) != thrd_success || thrd_create(&b, work, NULL) != thrd_success)
        return 1;
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    keep((unsigned long)(racy + guarded)); // NORACE
    return 0;
}
// TSAN: cannot run it, these threads are started without its knowledge
