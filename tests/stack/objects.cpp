// SPDX-License-Identifier: Apache-2.0
// Stacks of C++: virtual calls, templates of the library, exceptions on their way, destructors that
// run while a frame is left, calls at the end of a function that only throw, and the terminate
// handler, each compared with libgcc's, and the first ones before each single instruction. While
// libgcc leaves frames it writes over them, so there ours is only watched.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "compare.h"

extern "C" void rt_stack_refresh(void);

namespace
{

bool is_stepping;

__attribute__((noinline)) void look(const char *where)
{
    if (!is_stepping)
        compare_here(where);
    __asm__ volatile("" : : : "memory");
}

struct shape {
    virtual ~shape() = default;
    virtual int area(int n) const = 0;
};

struct square : shape {
    int area(int n) const override
    {
        look("virtual call");
        return n * n;
    }
};

struct looker {
    const char *where;
    ~looker()
    {
        look(where);
    }
};

__attribute__((noinline, noreturn)) void give_up(int n)
{
    looker l{"destructor while an exception passes"};
    std::string text(static_cast<size_t>(n), 'x');
    look("before a throw at the end of a function");
    throw std::runtime_error(text);
}

__attribute__((noinline, noreturn)) void end_in_call(int n)
{
    give_up(n + 30);
}

__attribute__((noinline)) int catch_it(int n)
{
    try {
        end_in_call(n);
    } catch (const std::runtime_error &e) {
        look("catch");
        return static_cast<int>(std::string(e.what()).size());
    }
}

__attribute__((noinline)) int rethrow(int n)
{
    try {
        looker l{"destructor, caught further out"};
        try {
            end_in_call(n);
        } catch (...) {
            look("inner catch");
            throw;
        }
    } catch (const std::exception &) {
        look("outer catch");
    }
    return n;
}

void run_calls(void *)
{
    std::unique_ptr<shape> s(new square);
    s->area(3);
    std::vector<int> values{5, 3, 9, 1};
    std::sort(values.begin(), values.end(), [](int a, int b) {
        look("std::sort callback");
        return a < b;
    });
    std::function<void(int)> f = [&](int n) {
        look("std::function");
        values[0] = n;
    };
    f(4);
}

void run_throws(void *)
{
    if (catch_it(12) != 42)
        fail_comparison("catch", "wrong text");
    rethrow(3);
}

void run_all()
{
    run_calls(nullptr);
    run_throws(nullptr);
}

[[noreturn]] void on_terminate()
{
    look("terminate handler");
    std::_Exit(finish_comparisons(60));
}

__attribute__((noinline)) void must_not_throw(int n) noexcept
{
    end_in_call(n);
}

} // namespace

int main()
{
    rt_stack_refresh();
    run_all();
    std::thread(run_all).join();
    is_stepping = true;
    long steps = compare_each_instruction("calls, each instruction", run_calls, nullptr);
    if (steps < 300 || walk_each_instruction(run_throws, nullptr) < 3000)
        fail_comparison("objects", "too few instructions");
    is_stepping = false;
    std::set_terminate(on_terminate);
    must_not_throw(1);
}
