// SPDX-License-Identifier: Apache-2.0
// A counter that lambdas capture by reference, one of them under a lock.
// EXPECTED FAILURE -O0: the lock is taken in a function of the library, which has its own name for it
#include <mutex>
#include <thread>

int main()
{
    long hits = 0;
    std::mutex hits_lock;
    auto count = [&] {
        for (int i = 0; i < 20000; i++) {
            std::scoped_lock guard(hits_lock); // HOLDS: hits_lock
            hits++; // HEADLINE
        }
    };
    auto reset = [&hits] {
        for (int i = 0; i < 20000; i++)
            hits /= 2; // HEADLINE
    };
    std::thread a(count), b(reset);
    a.join();
    b.join();
    return hits < 0;
}
