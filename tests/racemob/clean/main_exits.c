/* SPDX-License-Identifier: Apache-2.0 */
/* main ends in pthread_exit while others go on; they are ordered by joining each other, and the
 * process ends with the last one. ThreadSanitizer cannot run it: a thread of its own keeps the
 * process alive. */
#include "../program.h"

static long data;

static void *first(void *arg)
{
    nap(2000);
    data += 1;
    return arg;
}

static void *second(void *arg)
{
    finish(*(pthread_t *)arg);
    free(arg);
    data += 2;
    must(data == 8);
    return NULL;
}

int main(void)
{
    pthread_t *a = malloc(sizeof *a), b;
    must(a != NULL);
    data = 5;
    start(a, first, NULL);
    start(&b, second, a);
    pthread_detach(b);
    pthread_exit(NULL);
}
// TSAN: cannot, a thread of its own keeps the process alive
