// SPDX-License-Identifier: Apache-2.0
/* A vector of threads: each has an element of a vector to itself, and adds to a sum under a lock.
 */
#include "../program.h"
#include <mutex>
#include <thread>
#include <vector>

int main()
{
    std::mutex lock;
    std::vector<long> parts(4), order;
    long sum = 0;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < parts.size(); i++)
        threads.emplace_back([&, i] {
            parts[i] = (long)i + next();
            std::lock_guard<std::mutex> hold(lock);
            sum += parts[i];
            order.push_back((long)i);
        });
    for (std::thread &thread : threads)
        thread.join();
    must(sum == 6 && order.size() == 4);
    for (long &part : parts)
        part = 0;
    return 0;
}
