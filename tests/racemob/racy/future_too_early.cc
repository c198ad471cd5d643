// SPDX-License-Identifier: Apache-2.0
/* The promise is kept before the data beside it is written. */
#include "../program.h"
#include <future>
#include <thread>

namespace
{
long before, after;
}

int main()
{
    std::promise<void> promise;
    std::future<void> future = promise.get_future();
    std::thread thread([&promise] {
        before = next(); // NORACE
        promise.set_value();
        after = next(); // RACE
    });
    future.get();
    keep((unsigned long)before); // NORACE
    keep((unsigned long)after);  // RACE
    thread.join();
    return 0;
}
