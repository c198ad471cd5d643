/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's child runs at the same time as main and as a thread that main starts. */
#include "program.h"

static int with_main, with_sibling;
static pthread_t child;

static void *work_child(void *arg)
{
    with_main = next();    // RACE: main
    with_sibling = next(); // RACE: sibling
    return arg;
}

static void *work_parent(void *arg)
{
    start(&child, work_child, NULL);
    finish(child);
    return arg;
}

static void *work_sibling(void *arg)
{
    with_sibling += 7; // RACE: sibling
    return arg;
}

int main(void)
{
    pthread_t parent, sibling;
    start(&parent, work_parent, NULL);
    start(&sibling, work_sibling, NULL);
    with_main += 5; // RACE: main
    finish(sibling);
    finish(parent);
    keep((unsigned long)(with_main + with_sibling)); // NORACE
    return 0;
}
