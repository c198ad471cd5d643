// SPDX-License-Identifier: Apache-2.0
/* wait and notify of std::atomic: the wait ends with an acquire of the released value. */
#include "../program.h"
#include <atomic>
#include <thread>

namespace
{
std::atomic<int> number{0};
std::atomic<bool> done{false};
long data;

void answer()
{
    number.wait(0, std::memory_order_acquire);
    must(data == 1);
    data = 2;
    done.store(true, std::memory_order_release);
    done.notify_all();
}
} // namespace

int main()
{
    std::thread thread(answer);
    data = 1;
    number.store(1, std::memory_order_release);
    number.notify_one();
    done.wait(false, std::memory_order_acquire);
    must(data == 2);
    data = 3;
    thread.join();
    return 0;
}
// OPTIONS: -std=c++20
