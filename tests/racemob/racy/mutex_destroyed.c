/* SPDX-License-Identifier: Apache-2.0 */
/* Main takes a request's answer for the end of its worker, and destroys the request's mutex: the
 * worker may still be about to use it. */
#include "../program.h"

enum { REQUESTS = 40 };

struct request {
    pthread_mutex_t mutex;
    int is_answered;
};

static void *answer(void *arg)
{
    struct request *request = arg;
    nap(200);
    tell(&request->is_answered, 1);
    nap(next() % 300);
    pthread_mutex_lock(&request->mutex);   // RACE: lock
    pthread_mutex_unlock(&request->mutex); // RACE: unlock
    return arg;
}

int main(void)
{
    for (int i = 0; i < REQUESTS; i++) {
        struct request request = {.mutex = PTHREAD_MUTEX_INITIALIZER};
        pthread_t worker;
        start(&worker, answer, &request);
        while (!__atomic_load_n(&request.is_answered, __ATOMIC_RELAXED))
            nap(100);
        nap(next() % 300);
        pthread_mutex_destroy(&request.mutex); // RACE: lock, unlock
        finish(worker);
    }
    return 0;
}
