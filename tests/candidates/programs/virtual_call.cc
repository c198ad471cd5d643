// SPDX-License-Identifier: Apache-2.0
/* A virtual function reached through a base class, from threads that a vector holds. */
#include "program.h"
#include <memory>
#include <thread>
#include <vector>

struct shape {
    virtual ~shape() = default;
    virtual void touch() = 0;
};

struct square : shape {
    int side = 0;
    NOINLINE void touch() override
    {
        side += next(); // RACE
    }
};

int main()
{
    std::unique_ptr<shape> shared = std::make_unique<square>();
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&shared] { shared->touch(); });
    for (auto &thread : threads)
        thread.join();
    return 0;
}
