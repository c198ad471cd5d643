// SPDX-License-Identifier: Apache-2.0
/* std::atomic is never half of a race; what it counts beside may be. */
#include "program.h"
#include <atomic>
#include <thread>

static std::atomic<int> counter{0};
static int plain;

static void work()
{
    counter += next();                                    // NORACE
    counter.fetch_add(next(), std::memory_order_relaxed); // NORACE
    plain += next();                                      // RACE
}

int main()
{
    std::thread a(work), b(work);
    a.join();
    b.join();
    keep((unsigned long)(counter.load() + plain));
    return 0;
}
