/* SPDX-License-Identifier: Apache-2.0 */
/* A thread joins the one it started before it ends: joining it is joining both. */
#include "program.h"

static int of_parent, of_child;

static void *work_child(void *arg)
{
    of_child = next(); // NORACE
    return arg;
}

static void *work_parent(void *arg)
{
    pthread_t child;
    of_child = next(); // NORACE
    start(&child, work_child, NULL);
    of_parent = next(); // NORACE
    finish(child);
    of_child += next(); // NORACE
    return arg;
}

int main(void)
{
    pthread_t parent;
    start(&parent, work_parent, NULL);
    finish(parent);
    keep((unsigned long)(of_parent + of_child)); // NORACE
    return 0;
}
