// SPDX-License-Identifier: Apache-2.0
/* A library that knows nothing of Racehive: what it does reaches the wrappers in the executable. */
#include <pthread.h>

#include <mutex>
#include <thread>

static std::mutex mutex;
static int constructed;

/* Before main, and before the executable's own constructors. */
__attribute__((constructor)) static void construct()
{
    std::thread([] { constructed++; }).join();
}

extern "C" void *seen_mutex()
{
    return &mutex;
}

/* Locks once; returns how many threads the constructor has run. */
extern "C" int seen_lock()
{
    std::lock_guard<std::mutex> hold(mutex);
    return constructed;
}

extern "C" void seen_run(void (*function)(void))
{
    std::thread(function).join();
}

/* For measuring. */
extern "C" void seen_lock_often(pthread_mutex_t *m, long times)
{
    for (long i = 0; i < times; i++) {
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
    }
}
