/* SPDX-License-Identifier: Apache-2.0 */
/* A thread starts another that outlives it; main joins only the first. */
#include "program.h"

static int of_parent, of_child;
static pthread_t child;

static void *work_child(void *arg)
{
    of_child = next(); // RACE
    return arg;
}

static void *work_parent(void *arg)
{
    of_parent = next(); // NORACE
    start(&child, work_child, NULL);
    return arg;
}

int main(void)
{
    pthread_t parent;
    start(&parent, work_parent, NULL);
    finish(parent);
    keep((unsigned long)of_parent); // NORACE
    keep((unsigned long)of_child);  // RACE
    finish(child);
    return 0;
}
