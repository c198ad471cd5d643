// SPDX-License-Identifier: Apache-2.0
/* std::counting_semaphore and std::binary_semaphore hand a buffer to and fro. Where two threads contend for
   one semaphore, they poll: libstdc++ 12 may sleep in acquire() on a count that it read before its failed
   attempt, and the last release has gone by then. */
#include "../program.h"
#include <chrono>
#include <semaphore>
#include <thread>

namespace
{
std::counting_semaphore<4> full(0);
std::counting_semaphore<4> empty(2);
std::binary_semaphore lock(1);
int ring[2];
long counter;
const int count = 30;

void tally()
{
    while (!lock.try_acquire())
        std::this_thread::yield();
    counter++;
    lock.release();
}

void produce()
{
    for (int i = 0; i < count; i++) {
        empty.acquire();
        ring[i % 2] = i;
        full.release();
        tally();
    }
}

void consume()
{
    for (int i = 0; i < count; i++) {
        if (i % 3 == 0)
            while (!full.try_acquire())
                std::this_thread::yield();
        else
            while (!full.try_acquire_for(std::chrono::milliseconds(2)))
                ;
        must(ring[i % 2] == i);
        empty.release();
        tally();
    }
}
} // namespace

int main()
{
    std::thread a(produce), b(consume);
    a.join();
    b.join();
    must(counter == 2 * count);
    return 0;
}
// OPTIONS: -std=c++20
