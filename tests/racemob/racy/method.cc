// SPDX-License-Identifier: Apache-2.0
/* A method that forgets the lock of its object, called by two threads; its siblings do not. */
#include "../program.h"
#include <mutex>
#include <thread>

namespace
{
class account
{
  public:
    NOINLINE void deposit(long amount)
    {
        std::lock_guard<std::mutex> hold(lock);
        balance += amount; // NORACE
    }

    NOINLINE void note(long amount)
    {
        last = amount; // RACE
    }

    long balance = 0, last = 0;

  private:
    std::mutex lock;
};

account shared;
} // namespace

int main()
{
    auto work = [] {
        shared.deposit(next());
        shared.note(next());
    };
    std::thread a(work), b(work);
    a.join();
    b.join();
    keep((unsigned long)(shared.balance + shared.last)); // NORACE
    return 0;
}
