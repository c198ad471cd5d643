// SPDX-License-Identifier: Apache-2.0
// C++20: jthread, latch and semaphore order the start, but not the counter.
#include <latch>
#include <semaphore>
#include <thread>

static std::latch start(2);
static std::counting_semaphore<4> slots(4); // lets four in, so it excludes no one
static long served;

static void work()
{
    start.arrive_and_wait();
    for (int i = 0; i < 5000; i++) {
        slots.acquire();
        served++; // HEADLINE
        slots.release();
    }
}

int main()
{
    {
        std::jthread a(work), b(work);
    }
    return served == 0;
}
