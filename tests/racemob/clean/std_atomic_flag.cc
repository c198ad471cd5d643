// SPDX-License-Identifier: Apache-2.0
/* std::atomic_flag as a lock: test_and_set with acquire, clear with release. */
#include "../program.h"
#include <atomic>
#include <thread>

namespace
{
std::atomic_flag busy = ATOMIC_FLAG_INIT;
long counter;

void count()
{
    for (int i = 0; i < 40; i++) {
        while (busy.test_and_set(std::memory_order_acquire))
            std::this_thread::yield();
        counter++;
        busy.clear(std::memory_order_release);
    }
}
} // namespace

int main()
{
    std::thread a(count), b(count), c(count);
    a.join();
    b.join();
    c.join();
    must(counter == 120);
    return 0;
}
