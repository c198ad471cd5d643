// SPDX-License-Identifier: Apache-2.0
/* std::mutex with lock_guard and unique_lock, as member of the object it guards. */
#include "program.h"
#include <mutex>
#include <thread>

class account
{
  public:
    void deposit(long amount)
    {
        std::lock_guard<std::mutex> hold(lock);
        balance += amount; // NORACE
    }

    void withdraw(long amount)
    {
        std::unique_lock<std::mutex> hold(lock);
        balance -= amount; // NORACE
        hold.unlock();
        withdrawals += next(); // RACE
    }

    long read()
    {
        std::lock_guard<std::mutex> hold(lock);
        return balance; // NORACE
    }

    long withdrawals = 0;

  private:
    std::mutex lock;
    long balance = 0;
};

static account shared;

int main()
{
    auto work = [] {
        shared.deposit(next());
        shared.withdraw(next());
    };
    std::thread a(work), b(work);
    a.join();
    b.join();
    keep((unsigned long)(shared.read() + shared.withdrawals));
    return 0;
}
