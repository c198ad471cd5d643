// SPDX-License-Identifier: Apache-2.0
/* Thread-local variables that are not static, so that they are reached as those of libraries are:
 * each thread has its own, whatever they are called through. */
#include "../program.h"
#include <thread>

thread_local long counted;
thread_local long *lent;

namespace
{
long sums[3];

NOINLINE void count(long *where)
{
    ++*where;
    ++counted;
}

void work(int me)
{
    lent = &counted;
    for (int i = 0; i < 10; i++)
        count(lent);
    sums[unforeseen(me)] = counted;
}
} // namespace

int main()
{
    std::thread a(work, 0), b(work, 1), c(work, 2);
    a.join();
    b.join();
    c.join();
    must(sums[0] == 20 && sums[1] == 20 && sums[2] == 20);
    return 0;
}
