// SPDX-License-Identifier: Apache-2.0
/* std::for_each and std::reduce with std::execution::par: each element is touched by one thread,
 * and what the threads have summed up comes together inside TBB. */
// NEEDS: -ltbb
// OPTIONS: -std=c++17
#include <algorithm>
#include <execution>
#include <mutex>
#include <numeric>
#include <vector>

#include "../../racemob/program.h"

int main()
{
    std::vector<int> values(2000, unforeseen(1));
    std::mutex lock;
    long total = 0;
    std::for_each(std::execution::par, values.begin(), values.end(), [&](int &v) {
        v += 1;
        std::lock_guard<std::mutex> guard(lock);
        total += v;
    });
    for (int &v : values)
        v += 1;
    total += std::reduce(std::execution::par, values.begin(), values.end(), 0L);
    keep((unsigned long)total);
    return 0;
}
