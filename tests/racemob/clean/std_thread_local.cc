// SPDX-License-Identifier: Apache-2.0
/* A thread_local object is destroyed when its thread ends, before the join; its destructor adds to
 * a shared sum that main reads. */
#include "../program.h"
#include <thread>

namespace
{
long sum;

struct counter {
    long value = 0;
    ~counter()
    {
        sum += value;
    }
};

thread_local counter mine;

void count()
{
    for (int i = 0; i < 10; i++)
        mine.value += next() % 2;
}
} // namespace

int main()
{
    for (int i = 0; i < 3; i++) {
        std::thread thread(count);
        thread.join();
        sum++;
    }
    must(sum == 18);
    return 0;
}
