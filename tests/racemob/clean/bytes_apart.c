/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbouring bytes, array elements and struct members are memory of their own: threads that
 * write different ones are not in conflict; the join orders the read of all of them. */
#include "../program.h"

static struct {
    char bytes[8];
    short halves[4];
    struct {
        int a, b;
    } pair;
} shared;

static void *even(void *arg)
{
    for (int i = 0; i < 8; i += 2)
        shared.bytes[i] = (char)next();
    shared.halves[0] = (short)next();
    shared.halves[2] = (short)next();
    shared.pair.a = next();
    return arg;
}

static void *odd(void *arg)
{
    for (int i = 1; i < 8; i += 2)
        shared.bytes[i] = (char)next();
    shared.halves[1] = (short)next();
    shared.halves[3] = (short)next();
    shared.pair.b = next();
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, even, NULL);
    start(&b, odd, NULL);
    finish(a);
    finish(b);
    for (int i = 0; i < 8; i++)
        keep((unsigned long)shared.bytes[i]);
    keep((unsigned long)(shared.halves[0] + shared.halves[3] + shared.pair.a + shared.pair.b));
    return 0;
}
