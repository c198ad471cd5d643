// SPDX-License-Identifier: Apache-2.0
/* Fibres of Boost.Context that threads hand to each other under a lock: each goes on where another
 * thread has left it, with what is on its stack. */
// NEEDS: -lboost_context
#include <boost/context/fiber.hpp>

#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "../../racemob/program.h"

namespace context = boost::context;

static std::mutex lock;
static std::deque<context::fiber> ready;
static long total;
static int left;

static context::fiber make(int parts)
{
    return context::fiber([parts](context::fiber &&home) {
        std::vector<long> own(16);
        for (int i = 0; i < parts; i++) {
            own[i % 16] += next();
            home = std::move(home).resume();
        }
        std::lock_guard<std::mutex> guard(lock);
        for (long value : own)
            total += value;
        left--;
        return std::move(home);
    });
}

static bool take(context::fiber &fiber)
{
    std::lock_guard<std::mutex> guard(lock);
    if (!ready.empty()) {
        fiber = std::move(ready.front());
        ready.pop_front();
    }
    return left > 0;
}

static void work()
{
    context::fiber fiber;
    while (take(fiber)) {
        if (!fiber) {
            nap(100);
            continue;
        }
        fiber = std::move(fiber).resume();
        std::lock_guard<std::mutex> guard(lock);
        if (fiber)
            ready.push_back(std::move(fiber));
    }
}

int main()
{
    left = unforeseen(12);
    for (int i = 0, count = left; i < count; i++)
        ready.push_back(make(20));
    std::thread a(work), b(work), c(work);
    a.join();
    b.join();
    c.join();
    keep((unsigned long)total);
    return 0;
}
