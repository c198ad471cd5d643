// SPDX-License-Identifier: Apache-2.0
// One stream that two threads print to: a stream of its own, which nothing orders.
#include <iomanip>
#include <iostream>
#include <sstream>
#include <thread>

static std::ostringstream journal;
static int lines;

static void work(int number)
{
    for (int i = 0; i < 300; i++) {
        journal << "worker " << std::setw(3) << number << " step " << i << '\n'; // HEADLINE
        lines++; // HEADLINE
    }
}

int main()
{
    std::thread a(work, 1), b(work, 2);
    a.join();
    b.join();
    std::cout << lines << '\n';
}
