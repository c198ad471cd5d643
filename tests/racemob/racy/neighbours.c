/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbouring bytes and elements are no race, however close; a word over a byte that another
 * thread writes is. */
#include "../program.h"

static union {
    char bytes[8];
    short halves[4];
    int words[2];
} data;

static void *work_a(void *arg)
{
    data.bytes[0] = (char)next();   // NORACE
    data.halves[1] = (short)next(); // NORACE
    data.bytes[5] = (char)next();   // RACE
    return arg;
}

static void *work_b(void *arg)
{
    data.bytes[1] = (char)next();       // NORACE
    keep((unsigned long)data.words[1]); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, work_a, NULL);
    start(&b, work_b, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(data.words[0] + data.words[1])); // NORACE
    return 0;
}
