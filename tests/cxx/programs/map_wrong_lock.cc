// SPDX-License-Identifier: Apache-2.0
// A map that two threads change, each under a mutex of its own.
#include <map>
#include <mutex>
#include <string>
#include <thread>

std::map<std::string, int> stock;
std::mutex stock_lock, order_lock;

static void deliver(int n) // FULL: in deliver(int)
{
    for (int i = 0; i < n; i++) {
        std::lock_guard<std::mutex> guard(stock_lock); // HOLDS: stock_lock
        stock["item" + std::to_string(i % 16)] += 1; // HEADLINE
    }
}

static void sell(int n)
{
    for (int i = 0; i < n; i++) {
        std::lock_guard<std::mutex> guard(order_lock); // HOLDS: order_lock
        auto it = stock.find("item" + std::to_string(i % 16)); // HEADLINE
        if (it != stock.end())
            it->second -= 1; // HEADLINE
    }
}

int main()
{
    for (int i = 0; i < 16; i++)
        stock["item" + std::to_string(i)] = 100;
    std::thread a(deliver, 3000), b(sell, 3000);
    a.join();
    b.join();
}
