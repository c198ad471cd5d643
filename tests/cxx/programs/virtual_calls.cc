// SPDX-License-Identifier: Apache-2.0
// A field that a virtual function changes, called through the base class by two threads.
#include <memory>
#include <thread>

struct shape {
    virtual ~shape() = default;
    virtual void grow() = 0;
};

struct square : shape {
    long side = 1;
    void grow() override { side += 1; } // HEADLINE
};

struct circle : shape {
    long radius = 1;
    void grow() override { radius += 2; } // HEADLINE
};

static void work(shape *what)
{
    for (int i = 0; i < 20000; i++)
        what->grow();
}

int main()
{
    std::unique_ptr<shape> what = std::make_unique<square>(), other = std::make_unique<circle>();
    std::thread a(work, what.get()), b(work, what.get());
    other->grow();
    a.join();
    b.join();
}
