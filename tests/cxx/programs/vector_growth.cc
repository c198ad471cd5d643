// SPDX-License-Identifier: Apache-2.0
// A vector that grows in one thread while another sums it up.
#include <thread>
#include <vector>

std::vector<long> samples;
long sum;

static void record()
{
    for (long i = 0; i < 20000; i++)
        samples.push_back(i); // HEADLINE
}

static void summarise()
{
    for (int i = 0; i < 20000; i++)
        sum += static_cast<long>(samples.size()); // HEADLINE
}

int main()
{
    std::thread a(record), b(summarise);
    a.join();
    b.join();
    return sum < 0;
}
