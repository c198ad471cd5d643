// SPDX-License-Identifier: Apache-2.0
/* A static variable of a function, built without the guard: two first calls race to make it. */
#include "../program.h"
#include <thread>

namespace
{
struct table {
    long first;

    NOINLINE table()
    {
        first = next() + 4; // RACE: content, made
    }
};

NOINLINE long get()
{
    static table made; // RACE: guard
    return made.first; // RACE: content
}
} // namespace

int main()
{
    std::thread a([] { keep((unsigned long)get()); }), b([] { keep((unsigned long)get()); });
    a.join();
    b.join();
    return 0;
}
// OPTIONS: -fno-threadsafe-statics
