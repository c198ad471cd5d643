// SPDX-License-Identifier: Apache-2.0
/* A lambda that captures by reference what its maker goes on using. */
#include "../program.h"
#include <thread>

int main()
{
    long captured = next(), copied = next();
    std::thread thread([&captured, copied] {
        captured = copied; // RACE
    });
    captured += next(); // RACE
    thread.join();
    keep((unsigned long)captured); // NORACE
    return 0;
}
