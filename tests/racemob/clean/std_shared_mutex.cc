// SPDX-License-Identifier: Apache-2.0
/* std::shared_mutex and std::shared_timed_mutex: readers share, writers come after all readers.
 * ThreadSanitizer is wrong here: it does not know the locks with a clock that the library calls. */
#include "../program.h"
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace
{
std::shared_mutex lock;
std::shared_timed_mutex timed;
long left, right, other;

void write_both()
{
    for (int i = 0; i < 15; i++) {
        std::unique_lock<std::shared_mutex> hold(lock);
        left++;
        right++;
        hold.unlock();
        while (!timed.try_lock_for(std::chrono::milliseconds(1)))
            ;
        other++;
        timed.unlock();
    }
}

void read_both()
{
    for (int i = 0; i < 15; i++) {
        std::shared_lock<std::shared_mutex> hold(lock);
        must(left == right);
        hold.unlock();
        if (timed.try_lock_shared()) {
            keep((unsigned long)other);
            timed.unlock_shared();
        }
    }
}
} // namespace

int main()
{
    std::thread a(write_both), b(read_both), c(read_both), d(write_both);
    a.join();
    b.join();
    c.join();
    d.join();
    must(left == 30 && other == 30);
    return 0;
}
// TSAN: wrong, it does not know the locks with a clock that the library calls
