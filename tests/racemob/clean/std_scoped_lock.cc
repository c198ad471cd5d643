// SPDX-License-Identifier: Apache-2.0
/* std::scoped_lock and std::lock take two mutexes at once, in different orders, for transfers
 * between two accounts. */
#include "../program.h"
#include <mutex>
#include <thread>

namespace
{
struct account {
    std::mutex lock;
    long balance = 100;
};

account left, right;

void transfer(account &from, account &to)
{
    for (int i = 0; i < 20; i++) {
        {
            std::scoped_lock hold(from.lock, to.lock);
            from.balance--;
            to.balance++;
        }
        std::lock(from.lock, to.lock);
        std::lock_guard<std::mutex> first(from.lock, std::adopt_lock);
        std::lock_guard<std::mutex> second(to.lock, std::adopt_lock);
        from.balance--;
        to.balance++;
    }
}
} // namespace

int main()
{
    std::thread a([] { transfer(left, right); }), b([] { transfer(right, left); });
    {
        std::lock_guard<std::mutex> hold(left.lock);
        keep((unsigned long)left.balance);
    }
    a.join();
    b.join();
    must(left.balance == 100 && right.balance == 100);
    return 0;
}
