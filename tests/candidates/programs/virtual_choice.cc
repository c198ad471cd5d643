// SPDX-License-Identifier: Apache-2.0
/* A block that a variable of the base class holds, whichever derived class it was made for. The
 * optimiser merges the two allocations, so that only the base class is declared for the block; the
 * members of the derived ones lie behind those of the base, or in its padding. */
#include "program.h"
#include <thread>

struct shape {
    virtual ~shape() = default;
    virtual void touch() = 0;
};

struct square : shape {
    int side = 0;
    NOINLINE void touch() override
    {
        side += next(); // RACE: side
    }
};

struct circle : shape {
    int radius = 0;
    NOINLINE void touch() override
    {
        radius += next(); // RACE: radius
    }
};

struct named {
    int name = 1;
    virtual ~named() = default;
    virtual void count() = 0;
};

struct book : named {
    int pages = 0; /* in the padding of `named` */
    NOINLINE void count() override
    {
        pages += next(); // RACE: pages
    }
};

struct disk : named {
    int tracks = 0;
    NOINLINE void count() override
    {
        tracks += next(); // RACE: tracks
    }
};

int main(int argc, char **)
{
    shape *drawn = argc > 5 ? (shape *)new circle : new square;
    named *kept = argc > 6 ? (named *)new book : new disk;
    auto work = [drawn, kept] {
        drawn->touch();
        kept->count();
    };
    std::thread first(work), second(work);
    first.join();
    second.join();
    delete drawn;
    delete kept;
    return 0;
}
