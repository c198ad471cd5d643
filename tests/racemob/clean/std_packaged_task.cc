// SPDX-License-Identifier: Apache-2.0
/* std::packaged_task handed to a thread, and run again after a reset: each run is before the get of
 * its own future. */
#include "../program.h"
#include <future>
#include <thread>

int main()
{
    long beside = 0;
    std::packaged_task<int(int)> task([&beside](int x) {
        beside += x;
        return x * 2;
    });
    for (int i = 1; i <= 4; i++) {
        std::future<int> result = task.get_future();
        std::thread thread([&task, i] { task(i); });
        must(result.get() == i * 2);
        beside++;
        thread.join();
        task.reset();
    }
    must(beside == 1 + 2 + 3 + 4 + 4);
    return 0;
}
