// SPDX-License-Identifier: Apache-2.0
// A generator (a coroutine) that two threads resume, each its own, and that counts in one place.
#include <coroutine>
#include <exception>
#include <thread>

static long produced;

struct generator {
    struct promise_type {
        int value = 0;
        generator get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int v) noexcept
        {
            value = v;
            return {};
        }
        void return_void() noexcept {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
};

static generator count(int n)
{
    for (int i = 0; i < n; i++) {
        produced += 1; // HEADLINE
        co_yield i;
    }
}

static void drain()
{
    generator g = count(20000);
    while (!g.handle.done()) // HEADLINE: a read hoisted out of the loop
        g.handle.resume();
    g.handle.destroy();
}

int main()
{
    std::thread a(drain), b(drain);
    a.join();
    b.join();
    return produced == 0;
}
