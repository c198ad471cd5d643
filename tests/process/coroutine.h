// SPDX-License-Identifier: Apache-2.0
/* Coroutines that a few threads resume, taken from a queue under a lock. */
#ifndef PROCESS_COROUTINE_H
#define PROCESS_COROUTINE_H

#include <coroutine>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "../racemob/program.h"

static std::mutex lock;
static std::deque<std::coroutine_handle<>> ready;
static int left; /* coroutines that have not ended */

struct task {
    struct promise_type {
        task get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend()
        {
            return {};
        }
        std::suspend_never final_suspend() noexcept
        {
            std::lock_guard<std::mutex> guard(lock);
            left--;
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            std::terminate();
        }
    };
    std::coroutine_handle<promise_type> handle;
};

static void put(std::coroutine_handle<> handle)
{
    std::lock_guard<std::mutex> guard(lock);
    ready.push_back(handle);
}

/* The coroutine waits, and any thread goes on with it. */
struct hand_over {
    bool await_ready()
    {
        return false;
    }
    void await_suspend(std::coroutine_handle<> handle)
    {
        put(handle);
    }
    void await_resume()
    {
    }
};

static void start(task t)
{
    {
        std::lock_guard<std::mutex> guard(lock);
        left++;
    }
    put(t.handle);
}

static bool take(std::coroutine_handle<> &handle)
{
    std::lock_guard<std::mutex> guard(lock);
    handle = nullptr;
    if (!ready.empty()) {
        handle = ready.front();
        ready.pop_front();
    }
    return left > 0;
}

static void resume_some()
{
    std::coroutine_handle<> handle;
    while (take(handle)) {
        if (handle)
            handle.resume();
        else
            nap(50);
    }
}

static void run_all(int count)
{
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back(resume_some);
    for (auto &thread : threads)
        thread.join();
}

#endif
