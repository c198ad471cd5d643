// SPDX-License-Identifier: Apache-2.0
/* A static variable of a function is made by the first call; the guard the compiler adds orders it
 * before the return of all others. Its constructor is no constant. */
#include "../program.h"
#include <string>
#include <thread>

namespace
{
int stage;

struct table {
    long squares[8];
    std::string name;

    table() : name("squares of the first numbers")
    {
        for (int i = 0; i < 8; i++)
            squares[i] = i * i + 0 * next();
    }
};

NOINLINE const table &get()
{
    static const table made;
    return made;
}

void early()
{
    must(get().squares[3] == 9);
    tell(&stage, 1);
}

void late()
{
    await(&stage, 1);
    must(get().squares[4] == 16 && get().name.size() == 28);
}
} // namespace

int main()
{
    std::thread b(late), a(early), c(early);
    a.join();
    b.join();
    c.join();
    return 0;
}
