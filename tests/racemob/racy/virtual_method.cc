// SPDX-License-Identifier: Apache-2.0
/* The race is in one of two overrides, called through a pointer to the base. */
#include "../program.h"
#include <thread>

namespace
{
long shared;

struct shape {
    virtual ~shape() = default;
    virtual void draw() = 0;
    long own = 0;
};

struct circle : shape {
    void draw() override
    {
        shared += next(); // RACE
    }
};

struct square : shape {
    void draw() override
    {
        own += next(); // NORACE
    }
};

void work(shape *first, shape *second)
{
    first->draw();
    second->draw();
}
} // namespace

int main()
{
    circle a, b;
    square c, d;
    std::thread first(work, &a, &c), second(work, &b, &d);
    first.join();
    second.join();
    keep((unsigned long)(shared + c.own + d.own)); // NORACE
    return 0;
}
