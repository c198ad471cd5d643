/* SPDX-License-Identifier: Apache-2.0 */
/* Functions reached only through a table of pointers that is filled at run time. */
#include "program.h"

static int counter, locked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*table[2])(void);

static void add(void)
{
    counter += next(); // RACE
}

static void add_locked(void)
{
    pthread_mutex_lock(&lock);
    locked += next(); // NORACE
    pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
    for (int i = 0; i < 2; i++)
        table[i]();
    return arg;
}

int main(void)
{
    pthread_t a, b;
    table[0] = add;        // NORACE
    table[1] = add_locked; // NORACE
    start(&a, work, NULL);
    start(&b, work, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(counter + locked));
    return 0;
}
