// SPDX-License-Identifier: Apache-2.0
// A class template whose member function two threads call without a lock.
#include <array>
#include <string>
#include <thread>

template <typename Key, typename Value, int Size> class cache {
    std::array<std::pair<Key, Value>, Size> entries;
    long used = 0;

  public:
    void put(Key key, Value value)
    {
        entries[static_cast<unsigned>(key) % Size] = {key, value}; // HEADLINE
        used++;                                                    // HEADLINE
    }
    long size() const { return used; }
};

static cache<int, long, 8> recent;

static void work()
{
    for (int i = 0; i < 20000; i++) // HEADLINE: a read hoisted out of the loop
        recent.put(i, i);
}

int main()
{
    std::thread a(work), b(work);
    a.join();
    b.join();
    return recent.size() == 0;
}
