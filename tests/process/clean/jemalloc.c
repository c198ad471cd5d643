/* SPDX-License-Identifier: Apache-2.0 */
/* Threads write blocks of jemalloc's that others have given back; nothing else orders them. One
 * block in four is handed over under a lock and given back by the other thread. */
// NEEDS: -ljemalloc
#include <pthread.h>

#include "../../racemob/program.h"

enum { SIZE = 64, SLOTS = 8 };

static int rounds;
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static char *handed[SLOTS];

static void hand_over(char *block, int slot)
{
    pthread_mutex_lock(&locks[unforeseen(1)]);
    char *other = handed[slot];
    handed[slot] = block;
    pthread_mutex_unlock(&locks[unforeseen(1)]);
    if (other)
        other[1]++;
    free(other);
}

static void *use(void *arg)
{
    for (int i = 0; i < rounds; i++) {
        char *block = malloc(SIZE);
        must(block != NULL);
        for (int k = 0; k < SIZE; k++)
            block[k] = (char)next();
        if (i % 4)
            free(block);
        else
            hand_over(block, i / 4 % SLOTS);
        if (i % 64 == 0)
            nap(50);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[3];
    rounds = unforeseen(2000);
    for (int i = 0; i < 3; i++)
        must(!pthread_create(&threads[i], NULL, use, NULL));
    for (int i = 0; i < 3; i++)
        must(!pthread_join(threads[i], NULL));
    for (int i = 0; i < SLOTS; i++)
        free(handed[i]);
    return 0;
}
