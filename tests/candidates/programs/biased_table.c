/* SPDX-License-Identifier: Apache-2.0 */
/* A table whose pointer is moved so that letters are its indices: it points before the table. */
#include "program.h"

static long counts[26], *of_letter;

static NOINLINE void prepare(void)
{
    of_letter = counts - 'A';
}

static void *work(void *arg)
{
    for (int i = 0; i < 26; i++)
        of_letter['A' + (i + next()) % 26] = i; // RACE
    return arg;
}

int main(void)
{
    pthread_t thread;
    prepare();
    start(&thread, work, NULL);
    counts[2] = 5; // RACE
    finish(thread);
    keep((unsigned long)counts[3]);
    return 0;
}
