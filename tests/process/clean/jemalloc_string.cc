// SPDX-License-Identifier: Apache-2.0
/* Threads write strings whose memory others have given back, mostly by code of C++'s library: by
 * jemalloc's own operator delete, which does not call free. */
// NEEDS: -ljemalloc
#include <pthread.h>

#include <string>

#include "../../racemob/program.h"

static int rounds;
static std::string *kept[4];

static void *use(void *arg)
{
    for (int i = 0; i < rounds; i++) {
        std::string text;
        text.reserve((size_t)unforeseen(100));
        for (int k = 0; k < 64; k++)
            text.push_back((char)('a' + next() % 20));
        for (int k = 0; k < 64; k += 8)
            text[(size_t)k] = 'x';
        if (unforeseen(0)) { // so that it may be anybody's
            kept[next() % 4] = &text;
            (*kept[next() % 4])[0] = 'y';
        }
        if (i % 64 == 0)
            nap(50);
    }
    return arg;
}

int main()
{
    pthread_t threads[3];
    rounds = unforeseen(2000);
    for (pthread_t &thread : threads)
        must(!pthread_create(&thread, nullptr, use, nullptr));
    for (pthread_t &thread : threads)
        must(!pthread_join(thread, nullptr));
    return 0;
}
