// SPDX-License-Identifier: Apache-2.0
// Which accesses of C++ are sites, and how they are called.
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class Account
{
  public:
    explicit Account(long start) : balance_(start) {}
    __attribute__((noinline)) void deposit(long amount)
    {
        std::lock_guard<std::mutex> guard(lock_);
        balance_ += amount; // SITE read this->balance_; SITE write this->balance_
    }
    __attribute__((noinline)) long balance() const
    {
        return balance_; // SITE read this->balance_
    }

  private:
    std::mutex lock_;
    long balance_;
};

struct Base {
    virtual ~Base() = default;
    int tag = 1;
};

struct Derived : Base {
    int extra = 2;
};

static std::atomic<int> ready{0};
static thread_local int own;

__attribute__((noinline)) static int read_both(const Derived &d)
{
    return d.tag + d.extra; // SITE read
}

__attribute__((noinline)) static void announce()
{
    ready.store(1, std::memory_order_release); // SITE atomic write
}

__attribute__((noinline)) static void touch_own()
{
    own++; // NOSITE
}

__attribute__((noinline)) static void add(std::vector<int> &v, int x)
{
    v.push_back(x);
}

int main()
{
    Account account(5);
    std::thread first([&] { account.deposit(1); });
    std::thread second([&] { account.deposit(2); });
    first.join();
    second.join();
    announce();
    touch_own();
    std::vector<int> numbers;
    for (int i = 0; i < 10; i++)
        add(numbers, i);
    auto d = std::make_unique<Derived>();
    return account.balance() == 8 && read_both(*d) == 3 && ready.load() == 1 && own == 1 ? 0 : 1;
}
