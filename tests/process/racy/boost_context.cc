// SPDX-License-Identifier: Apache-2.0
/* Fibres of Boost.Context, whose switch is assembly in its library: two threads have one each, and
 * both count in common memory without a lock. */
// NEEDS: -lboost_context
#include <boost/context/fiber.hpp>

#include <thread>

#include "../../racemob/program.h"

namespace context = boost::context;

static int level;

static void fill(int rounds)
{
    bool is_over = false;
    context::fiber worker([&](context::fiber &&home) {
        while (!is_over) {
            level += next(); // RACE
            home = std::move(home).resume();
        }
        return std::move(home);
    });
    for (int i = 0; i < rounds; i++) {
        worker = std::move(worker).resume();
        nap(50);
    }
    is_over = true;
    while (worker)
        worker = std::move(worker).resume();
}

int main()
{
    int rounds = unforeseen(100);
    std::thread a(fill, rounds), b(fill, rounds);
    a.join();
    b.join();
    keep((unsigned long)level);
    return 0;
}
