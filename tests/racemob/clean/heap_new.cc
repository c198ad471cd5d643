// SPDX-License-Identifier: Apache-2.0
/* An object is destroyed with delete in one thread; new in another gets the same memory. The
 * allocator orders the two lives; nothing else does. Each thread has a slot that looks as if it
 * were shared. */
#include "../program.h"
#include <malloc.h>
#include <thread>

namespace
{
struct large {
    long words[400];
    explicit large(long value)
    {
        for (long &word : words)
            word = value;
    }
    ~large()
    {
        words[0] = -1;
    }
};

const int rounds = 20;
int turn;
large *slots[2];

void live(int me)
{
    for (int i = me; i < rounds; i += 2) {
        await(&turn, i);
        slots[unforeseen(me)] = new large(i);
        slots[unforeseen(me)]->words[i] += next();
        keep((unsigned long)slots[unforeseen(me)]->words[next() % 400]);
        delete slots[unforeseen(me)];
        tell(&turn, i + 1);
    }
}
} // namespace

int main()
{
    mallopt(M_ARENA_MAX, 1);
    std::thread a(live, 0), b(live, 1);
    a.join();
    b.join();
    return 0;
}
