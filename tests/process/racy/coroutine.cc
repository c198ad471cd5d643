// SPDX-License-Identifier: Apache-2.0
/* C++20 coroutines that two threads resume by turns through a queue under a lock: their own memory is
 * ordered by it, what they share is not. */
// OPTIONS: -std=c++20
#include "../coroutine.h"

static long sum;

static task work(int parts)
{
    for (int i = 0; i < parts; i++) {
        sum += next(); // RACE
        co_await hand_over();
    }
}

int main()
{
    int parts = unforeseen(40);
    for (int i = 0; i < 4; i++)
        start(work(parts));
    run_all(2);
    keep((unsigned long)sum);
    return 0;
}
