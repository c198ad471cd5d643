// SPDX-License-Identifier: Apache-2.0
/* Threads of Boost.Thread fill a box under a boost::mutex; main empties it by a boost condition
 * variable, and joins them. */
// NEEDS: -lboost_thread -lboost_system
// OPTIONS: -DBOOST_NO_CXX98_FUNCTION_BASE
#include <boost/thread.hpp>

#include "../../racemob/program.h"

struct box {
    boost::mutex lock;
    boost::condition_variable filled;
    int level = 0, done = 0;
};

static void fill(box *b, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        boost::lock_guard<boost::mutex> guard(b->lock);
        b->level += next();
    }
    boost::unique_lock<boost::mutex> guard(b->lock);
    b->done++;
    b->filled.notify_one();
}

int main()
{
    int rounds = unforeseen(100);
    box shared;
    boost::thread a(fill, &shared, rounds), b([&shared, rounds] { fill(&shared, rounds); });
    {
        boost::unique_lock<boost::mutex> guard(shared.lock);
        while (shared.done < 2)
            shared.filled.wait(guard);
    }
    a.join();
    b.join();
    keep((unsigned long)shared.level);
    return 0;
}
