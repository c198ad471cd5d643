// SPDX-License-Identifier: Apache-2.0
/* A race in a template: one line, instantiated for two types; only one of the two is shared. */
#include "../program.h"
#include <thread>

namespace
{
template <typename T> class cell
{
  public:
    NOINLINE void add(T amount)
    {
        value = (T)(value + amount); // RACE
    }

    NOINLINE T get() const
    {
        return value; // NORACE
    }

  private:
    T value = 0;
};

cell<long> shared;

void work()
{
    cell<short> own;
    own.add((short)next());
    shared.add(next());
    keep((unsigned long)own.get());
}
} // namespace

int main()
{
    std::thread a(work), b(work);
    a.join();
    b.join();
    keep((unsigned long)shared.get());
    return 0;
}
