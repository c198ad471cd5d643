// SPDX-License-Identifier: Apache-2.0
/* std::condition_variable: a queue whose items are made and used outside the lock. */
#include "../program.h"
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>

namespace
{
struct item {
    int value;
};

std::mutex lock;
std::condition_variable filled;
std::queue<std::unique_ptr<item>> items;
const int count = 20;

void produce()
{
    for (int i = 0; i < count; i++) {
        auto made = std::make_unique<item>();
        made->value = i;
        {
            std::lock_guard<std::mutex> hold(lock);
            items.push(std::move(made));
        }
        filled.notify_one();
    }
}

void consume()
{
    long sum = 0;
    for (int i = 0; i < count; i++) {
        std::unique_lock<std::mutex> hold(lock);
        if (i % 2)
            filled.wait(hold, [] { return !items.empty(); });
        else
            while (
                !filled.wait_for(hold, std::chrono::milliseconds(2), [] { return !items.empty(); }))
                ;
        auto got = std::move(items.front());
        items.pop();
        hold.unlock();
        sum += got->value;
        got->value = -1;
    }
    must(sum == count * (count - 1) / 2);
}
} // namespace

int main()
{
    std::thread b(consume), a(produce);
    a.join();
    b.join();
    return 0;
}
