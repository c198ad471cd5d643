// SPDX-License-Identifier: Apache-2.0
/* std::shared_ptr: owners write their parts and let go; the last release runs the destructor, which
 * reads them all. Only the reference count orders that. A weak_ptr is locked meanwhile. */
#include "../program.h"
#include <memory>
#include <thread>
#include <vector>

namespace
{
long result;
int destroyed;

struct object {
    long part[3] = {0, 0, 0};

    ~object()
    {
        result = part[0] + part[1] + part[2];
        tell(&destroyed, 1);
    }
};

void use(std::shared_ptr<object> mine, int me)
{
    mine->part[me] = me + 1;
    mine.reset();
}

void watch(std::weak_ptr<object> weak)
{
    while (auto strong = weak.lock())
        keep((unsigned long)strong.use_count());
}
} // namespace

int main()
{
    auto shared = std::make_shared<object>();
    std::vector<std::thread> threads;
    threads.emplace_back(watch, std::weak_ptr<object>(shared));
    for (int i = 0; i < 3; i++)
        threads.emplace_back(use, shared, i);
    shared.reset();
    for (std::thread &thread : threads)
        thread.join();
    must(destroyed == 1 && result == 6);
    return 0;
}
