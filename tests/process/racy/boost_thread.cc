// SPDX-License-Identifier: Apache-2.0
/* Threads of Boost.Thread, whose start is in its library: one adds, one reads, without a lock. */
// NEEDS: -lboost_thread -lboost_system
// OPTIONS: -DBOOST_NO_CXX98_FUNCTION_BASE
#include <boost/thread.hpp>

#include "../../racemob/program.h"

static int level;

static void fill(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        level += next(); // RACE
        nap(50);
    }
}

int main()
{
    int rounds = unforeseen(100);
    boost::thread a(fill, rounds), b([rounds] { fill(rounds); });
    a.join();
    b.join();
    keep((unsigned long)level);
    return 0;
}
