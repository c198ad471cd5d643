// SPDX-License-Identifier: Apache-2.0
/* Threads write objects whose memory others have given back by operator delete, which is jemalloc's
 * own and does not call free. */
// NEEDS: -ljemalloc
#include <thread>
#include <vector>

#include "../../racemob/program.h"

static int rounds;

struct object {
    long words[8];
    object *self;
};

static object *shared_objects[4];

static void use()
{
    for (int i = 0; i < rounds; i++) {
        object *made = new object;
        made->self = made;
        for (long &word : made->words)
            word = next();
        if (made->self != made)
            shared_objects[0] = made; // so that it may be anybody's
        delete made;
        if (i % 64 == 0)
            nap(50);
    }
}

int main()
{
    rounds = unforeseen(2000);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(use);
    for (std::thread &thread : threads)
        thread.join();
    return 0;
}
