/* std::atomic<std::shared_ptr>: a snapshot is replaced while others read the one they loaded; the
 * last of its owners destroys it. */
#include "../program.h"
#include <atomic>
#include <memory>
#include <thread>

namespace
{
struct snapshot {
    long left, right;
    ~snapshot()
    {
        left = right = -1;
    }
};

std::atomic<std::shared_ptr<snapshot>> current;

void replace()
{
    for (long i = 1; i <= 20; i++)
        current.store(std::shared_ptr<snapshot>(new snapshot{i, i}));
}

void look()
{
    for (int i = 0; i < 20; i++) {
        std::shared_ptr<snapshot> seen = current.load();
        must(seen->left == seen->right);
    }
}
} // namespace

int main()
{
    current.store(std::shared_ptr<snapshot>(new snapshot{0, 0}));
    std::thread a(replace), b(look), c(look);
    a.join();
    b.join();
    c.join();
    return 0;
}
// OPTIONS: -std=c++20
