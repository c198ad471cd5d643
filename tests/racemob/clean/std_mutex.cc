// SPDX-License-Identifier: Apache-2.0
/* std::mutex and std::timed_mutex with lock_guard and unique_lock, also deferred, tried and given
 * up early, order the accesses. */
#include "../program.h"
#include <chrono>
#include <mutex>
#include <thread>

namespace
{
class account
{
  public:
    void deposit(long amount)
    {
        std::lock_guard<std::mutex> hold(lock);
        balance += amount;
    }

    long withdraw(long amount)
    {
        std::unique_lock<std::mutex> hold(lock, std::defer_lock);
        while (!hold.try_lock())
            std::this_thread::yield();
        balance -= amount;
        long left = balance;
        hold.unlock();
        std::unique_lock<std::timed_mutex> other(log_lock, std::chrono::milliseconds(1));
        while (!other.owns_lock())
            (void)other.try_lock_for(std::chrono::milliseconds(1));
        entries++;
        return left;
    }

    long balance = 0, entries = 0;

  private:
    std::mutex lock;
    std::timed_mutex log_lock;
};
} // namespace

int main()
{
    account shared;
    auto work = [&shared] {
        for (int i = 0; i < 20; i++) {
            shared.deposit(3);
            keep((unsigned long)shared.withdraw(1));
        }
    };
    std::thread a(work), b(work);
    a.join();
    b.join();
    must(shared.balance == 80 && shared.entries == 40);
    return 0;
}
