// SPDX-License-Identifier: Apache-2.0
/* std::recursive_mutex: methods that lock call each other; only the outermost gives the lock up. */
#include "../program.h"
#include <mutex>
#include <thread>

namespace
{
class tree
{
  public:
    void grow(int depth)
    {
        std::lock_guard<std::recursive_mutex> hold(lock);
        nodes++;
        if (depth > 0) {
            grow(depth - 1);
            grow(depth - 1);
        }
        deepest = depth > deepest ? depth : deepest;
    }

    long nodes = 0;
    int deepest = 0;

  private:
    std::recursive_mutex lock;
};
} // namespace

int main()
{
    tree shared;
    auto work = [&shared] {
        for (int i = 0; i < 5; i++)
            shared.grow(3);
    };
    std::thread a(work), b(work);
    a.join();
    b.join();
    must(shared.nodes == 150 && shared.deepest == 3);
    return 0;
}
