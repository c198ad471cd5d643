/* SPDX-License-Identifier: Apache-2.0 */
/* Every object has a lock of its own, and each thread takes the lock of its object before it
 * touches what they share. */
#include "../program.h"

static struct object {
    pthread_mutex_t lock;
    long own;
} objects[2];
static long shared;

static void *work(void *arg)
{
    struct object *object = arg;
    pthread_mutex_lock(&object->lock);
    object->own += next(); // NORACE
    shared += next();      // RACE
    pthread_mutex_unlock(&object->lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_mutex_init(&objects[i].lock, NULL);
    for (int i = 0; i < 2; i++)
        start(&threads[i], work, &objects[i]);
    for (int i = 0; i < 2; i++)
        finish(threads[i]);
    keep((unsigned long)shared); // NORACE
    return 0;
}
