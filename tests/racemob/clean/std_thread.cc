// SPDX-License-Identifier: Apache-2.0
/* std::thread: construction and join order what two threads do one after the other. */
#include "../program.h"
#include <memory>
#include <thread>

int main()
{
    long data = 1;
    auto owned = std::make_unique<long>(10);
    std::thread thread(
        [&data](std::unique_ptr<long> mine) {
            data += *mine;
            *mine = next();
        },
        std::move(owned));
    thread.join();
    must(data == 11);
    std::thread again([&data] { data *= 2; });
    std::thread moved = std::move(again);
    moved.join();
    must(data == 22);
    return 0;
}
