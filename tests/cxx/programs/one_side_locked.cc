// SPDX-License-Identifier: Apache-2.0
// A vector that grows under a lock, and is looked at without.
#include <mutex>
#include <thread>
#include <vector>

static std::vector<long> journal;
static std::mutex journal_lock;
static long seen;

static void add()
{
    for (long i = 0; i < 20000; i++) {
        std::lock_guard<std::mutex> guard(journal_lock); // HOLDS: journal_lock
        journal.push_back(i); // HEADLINE
    }
}

static void look()
{
    for (int i = 0; i < 20000; i++)
        seen += static_cast<long>(journal.size()); // HEADLINE
}

int main()
{
    std::thread a(add), b(look);
    a.join();
    b.join();
    return seen < 0;
}
