// SPDX-License-Identifier: Apache-2.0
/* std::for_each with std::execution::par, which TBB runs in its threads: the body counts in a
 * captured variable. */
// NEEDS: -ltbb
// OPTIONS: -std=c++17
#include <algorithm>
#include <execution>
#include <vector>

#include "../../racemob/program.h"

int main()
{
    std::vector<int> values(400, unforeseen(1));
    long total = 0;
    std::for_each(std::execution::par, values.begin(), values.end(), [&total](int &v) {
        v += 1;
        total += v; // RACE
        nap(20);
    });
    keep((unsigned long)total);
    return 0;
}
