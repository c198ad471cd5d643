/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbouring bytes are different memory; a word access over them is not. */
#include "program.h"

static union {
    char bytes[8];
    int words[2];
} data;

static void *work_a(void *arg)
{
    data.bytes[0] = (char)next(); // NORACE
    data.bytes[4] = (char)next(); // RACE
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
    keep((unsigned long)(data.words[0] + data.words[1]));
    return 0;
}
