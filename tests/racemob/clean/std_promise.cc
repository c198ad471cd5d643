// SPDX-License-Identifier: Apache-2.0
/* std::promise and std::future: what is before set_value, and what the value owns, is before get;
 * a shared_future for several; an exception the same way. */
#include "../program.h"
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>

int main()
{
    long beside = 0, shared_beside = 0;
    std::promise<std::unique_ptr<int>> promise;
    std::promise<void> go, failed;
    std::shared_future<void> started = go.get_future().share();
    std::future<std::unique_ptr<int>> future = promise.get_future();
    std::future<void> failure = failed.get_future();
    std::thread writer([&] {
        started.wait();
        must(shared_beside == 1);
        beside = 5;
        promise.set_value(std::make_unique<int>(6));
    });
    std::thread thrower([&, started] {
        started.wait();
        must(shared_beside == 1);
        failed.set_exception(std::make_exception_ptr(std::runtime_error("meant")));
    });
    shared_beside = 1;
    go.set_value();
    auto got = future.get();
    must(*got == 6 && beside == 5);
    *got = 0;
    beside = 0;
    bool caught = false;
    try {
        failure.get();
    } catch (const std::runtime_error &) {
        caught = true;
    }
    must(caught);
    writer.join();
    thrower.join();
    return 0;
}
