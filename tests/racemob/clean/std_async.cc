// SPDX-License-Identifier: Apache-2.0
/* std::async, launched and deferred: what the function does is before get, wait_for that says
 * ready, and the destructor of the future. */
#include "../program.h"
#include <chrono>
#include <future>

int main()
{
    long first = 0, second = 0, third = 0, fourth = 0;
    std::future<int> a = std::async(std::launch::async, [&] {
        first = 1;
        return 10;
    });
    std::future<void> b = std::async(std::launch::async, [&] { second = 2; });
    std::future<void> c = std::async(std::launch::deferred, [&] { third = 3; });
    {
        std::future<void> d = std::async(std::launch::async, [&] { fourth = 4; });
    }
    must(fourth == 4);
    fourth = 0;
    must(a.get() == 10 && first == 1);
    first = 0;
    while (b.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready)
        ;
    must(second == 2);
    second = 0;
    c.get();
    must(third == 3);
    return 0;
}
