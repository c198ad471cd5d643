// SPDX-License-Identifier: Apache-2.0
// A function-local static: its initialisation is ordered by the language, its later use is not.
#include <string>
#include <thread>

struct registry {
    std::string name;
    long lookups = 0;
    registry() : name("a name that is too long for the short string") {}
};

static registry &get()
{
    static registry only;
    return only;
}

static void work()
{
    for (int i = 0; i < 20000; i++)
        get().lookups++; // HEADLINE
}

int main()
{
    std::thread a(work), b(work);
    a.join();
    b.join();
    return get().lookups == 0;
}
