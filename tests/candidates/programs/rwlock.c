/* SPDX-License-Identifier: Apache-2.0 */
/* Many readers, one writer, each on its side of the lock. */
#include "program.h"

static int setting;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *read_it(void *arg)
{
    for (int i = 0; i < 10; i++) {
        pthread_rwlock_rdlock(&lock);
        keep((unsigned long)setting); // NORACE
        pthread_rwlock_unlock(&lock);
    }
    return arg;
}

static void *write_it(void *arg)
{
    pthread_rwlock_wrlock(&lock);
    setting = next(); // NORACE
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t readers[3], writer;
    for (int i = 0; i < 3; i++)
        start(&readers[i], read_it, NULL);
    start(&writer, write_it, NULL);
    for (int i = 0; i < 3; i++)
        finish(readers[i]);
    finish(writer);
    keep((unsigned long)setting); // NORACE
    return 0;
}
