// SPDX-License-Identifier: Apache-2.0
/* std::thread with lambdas: what they capture by reference is shared. */
#include "program.h"
#include <thread>

int main()
{
    int shared = next();
    std::thread a([&shared] {
        shared += next(); // RACE
    });
    std::thread b([&shared] {
        shared -= next(); // RACE
    });
    a.join();
    b.join();
    keep((unsigned long)shared);
    return 0;
}
