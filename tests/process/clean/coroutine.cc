// SPDX-License-Identifier: Apache-2.0
/* C++20 coroutines that threads resume by turns through a queue under a lock. Their frames, and the
 * memory that they point to, go from thread to thread with them. */
// OPTIONS: -std=c++20
#include "../coroutine.h"

#include <memory>
#include <vector>

static long total;

static task work(int parts)
{
    std::vector<long> own(8);
    auto last = std::make_unique<long>(0);
    for (int i = 0; i < parts; i++) {
        own[i % 8] += next();
        *last = own[i % 8];
        co_await hand_over();
    }
    std::lock_guard<std::mutex> guard(lock);
    for (long value : own)
        total += value;
    total += *last;
}

int main()
{
    int parts = unforeseen(40);
    for (int i = 0; i < 6; i++)
        start(work(parts));
    run_all(3);
    keep((unsigned long)total);
    return 0;
}
