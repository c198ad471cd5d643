// SPDX-License-Identifier: Apache-2.0
// A vector that is looked at under a lock, and grows without.
#include <mutex>
#include <thread>
#include <vector>

static std::vector<long> journal;
static std::mutex journal_lock;
static long seen;

static void add()
{
    for (long i = 0; i < 20000; i++)
        journal.push_back(i); // HEADLINE
}

static void look()
{
    for (int i = 0; i < 20000; i++) {
        std::lock_guard<std::mutex> guard(journal_lock); // HOLDS: journal_lock
        seen += static_cast<long>(journal.size()); // HEADLINE
    }
}

int main()
{
    std::thread a(add), b(look);
    a.join();
    b.join();
    return seen < 0;
}
