/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread returns is main's alone after the join. */
#include "program.h"

static void *work(void *arg)
{
    int *result = malloc(sizeof *result);
    if (!result)
        abort();
    *result = next() + *(int *)arg; // NORACE
    return result;
}

int main(void)
{
    pthread_t a, b;
    int input = next();
    void *from_a, *from_b;
    start(&a, work, &input);
    start(&b, work, &input);
    if (pthread_join(a, &from_a) || pthread_join(b, &from_b))
        return 1;
    keep((unsigned long)*(int *)from_a); // NORACE
    keep((unsigned long)*(int *)from_b); // NORACE
    free(from_a);
    free(from_b);
    return 0;
}
