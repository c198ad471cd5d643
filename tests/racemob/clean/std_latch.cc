// SPDX-License-Identifier: Apache-2.0
/* std::latch: what each thread did before it counted down is before wait and arrive_and_wait. */
#include "../program.h"
#include <latch>
#include <thread>

int main()
{
    long part[3] = {0, 0, 0}, sum = 0;
    std::latch ready(3), summed(1);
    auto work = [&](int me) {
        part[me] = me + 1;
        if (me == 0)
            ready.arrive_and_wait();
        else
            ready.count_down();
        summed.wait();
        must(sum == 6);
    };
    std::thread a(work, 0), b(work, 1), c(work, 2);
    ready.wait();
    for (long &p : part) {
        sum += p;
        p = 0;
    }
    summed.count_down();
    a.join();
    b.join();
    c.join();
    return 0;
}
// OPTIONS: -std=c++20
