// SPDX-License-Identifier: Apache-2.0
// Variables that lambdas capture by reference, in lambdas that threads are made of on the spot.
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

int main()
{
    long hits = 0;
    std::vector<int> seen;
    std::thread a([&] {
        for (int i = 0; i < 2000; i++) {
            hits++;            // HEADLINE
            seen.push_back(i); // HEADLINE
        }
    });
    std::thread b([&hits, &seen] {
        for (int i = 0; i < 2000; i++) {
            hits += 2;                                            // HEADLINE
            hits += static_cast<long>(seen.size());               // HEADLINE
        }
    });
    a.join();
    b.join();
    return hits < 0;
}
