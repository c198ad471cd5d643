// SPDX-License-Identifier: Apache-2.0
/* std::condition_variable_any with a shared lock: readers wait for the version a writer makes. */
#include "../program.h"
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace
{
std::shared_mutex lock;
std::condition_variable_any changed;
int version;
long content;

void read_it()
{
    for (int i = 1; i <= 5; i++) {
        std::shared_lock<std::shared_mutex> hold(lock);
        changed.wait(hold, [i] { return version >= i; });
        must(content == 10L * version);
    }
}

void write_it()
{
    for (int i = 1; i <= 5; i++) {
        {
            std::unique_lock<std::shared_mutex> hold(lock);
            version = i;
            content = 10L * i;
        }
        changed.notify_all();
        nap(200);
    }
}
} // namespace

int main()
{
    std::thread a(read_it), b(read_it), c(write_it);
    a.join();
    b.join();
    c.join();
    return 0;
}
