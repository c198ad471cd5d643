// SPDX-License-Identifier: Apache-2.0
/* std::barrier: the function at its completion reads what all wrote before, and they read what it
 * wrote after; one thread leaves early with arrive_and_drop. */
#include "../program.h"
#include <barrier>
#include <thread>

namespace
{
long part[3], sum;

struct add_up {
    void operator()() noexcept
    {
        for (long &p : part) {
            sum += p;
            p = 0;
        }
    }
};

std::barrier<add_up> barrier(3);

void work(int me)
{
    long expected = 0;
    for (int phase = 1; phase <= 4; phase++) {
        part[me] = phase;
        if (me == 2 && phase == 4) {
            barrier.arrive_and_drop();
            return;
        }
        barrier.arrive_and_wait();
        expected += 3 * phase;
        must(sum == expected);
        barrier.arrive_and_wait();
    }
}
} // namespace

int main()
{
    std::thread a(work, 0), b(work, 1), c(work, 2);
    a.join();
    b.join();
    c.join();
    return 0;
}
// OPTIONS: -std=c++20
