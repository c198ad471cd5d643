/* SPDX-License-Identifier: Apache-2.0 */
/* A lock in each of many objects, as in a table of a server: the stacks of all pairs of a lock and a
 * place would be too many to be kept, and none may be lost for that. Two threads go through the
 * objects with their locks, and then race. */
#include <pthread.h>

#define OBJECTS 50000

struct object {
    pthread_mutex_t lock;
    long a, b, c;
};

static struct object objects[OBJECTS];
static long found;

static void *work(void *arg)
{
    for (long i = 0; i < OBJECTS; i++) {
        pthread_mutex_lock(&objects[i].lock);
        objects[i].a++;
        objects[i].b += objects[i].a;
        objects[i].c ^= objects[i].b;
        pthread_mutex_unlock(&objects[i].lock);
    }
    found++; // RACE
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    for (long i = 0; i < OBJECTS; i++)
        pthread_mutex_init(&objects[i].lock, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return found < 1;
}
