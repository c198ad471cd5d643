// SPDX-License-Identifier: Apache-2.0
/*
 * std::call_once and function statics: after an exception both are tried again, and a thread that
 * returns comes after the initialisation. std::thread, std::mutex and std::condition_variable are
 * seen.
 */
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "model.h"

static int tries;

static void fail_twice()
{
    if (++tries < 3)
        throw std::runtime_error("not yet");
    harness_tell(1, 1);
}

template <typename Function> static int count_exceptions(Function function)
{
    try {
        function();
        return 0;
    } catch (const std::runtime_error &) {
        return 1;
    }
}

static void test_call_once()
{
    static std::once_flag flag;
    int exceptions = 0;
    for (int i = 0; i < 5; i++)
        exceptions += count_exceptions([] { std::call_once(flag, fail_twice); });
    CHECK(exceptions == 2 && tries == 3);
    std::thread([] {
        std::call_once(flag, fail_twice);
        CHECK_KNOWS(1, 1);
    }).join();
}

static int static_tries;

struct stubborn {
    stubborn()
    {
        if (++static_tries < 3)
            throw std::runtime_error("not yet");
        harness_tell(2, 1);
    }
};

static void use_static()
{
    static stubborn value;
    (void)value;
}

static void test_static()
{
    int exceptions = 0;
    for (int i = 0; i < 5; i++)
        exceptions += count_exceptions(use_static);
    CHECK(exceptions == 2 && static_tries == 3);
}

/* Many threads meet at the same statics: each is made once, by one of them. */
template <int N> struct counted {
    static int made;
    counted()
    {
        made++;
        std::this_thread::yield();
    }
};
template <int N> int counted<N>::made;

template <int N> static void make()
{
    static counted<N> value;
    (void)value;
}

template <int... N> static void make_all(std::integer_sequence<int, N...>)
{
    (make<N>(), ...);
}

template <int... N> static void check_all(std::integer_sequence<int, N...>)
{
    CHECK(((counted<N>::made == 1) && ...));
}

static void test_static_race()
{
    using numbers = std::make_integer_sequence<int, 200>;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([] { make_all(numbers()); });
    for (auto &thread : threads)
        thread.join();
    check_all(numbers());
}

static void test_condition()
{
    std::mutex mutex;
    std::condition_variable condition;
    bool ready = false;
    std::thread thread([&] {
        std::lock_guard<std::mutex> hold(mutex);
        harness_tell(3, 4);
        ready = true;
        condition.notify_one();
    });
    {
        std::unique_lock<std::mutex> hold(mutex);
        condition.wait(hold, [&] { return ready; });
        CHECK_KNOWS(3, 4);
    }
    thread.join();
}

/* What a thread does last is known to who joins it. */
static void test_join()
{
    std::thread([] { harness_tell(4, 6); }).join();
    CHECK_KNOWS(4, 6);
}

/* An exception out of a thread's function ends the process as it would without us; one that is
 * caught does not disturb the frames we put below it. */
static void test_exception_in_thread()
{
    int caught = 0;
    std::thread([&] {
        caught = count_exceptions([] { throw std::runtime_error("here"); });
    }).join();
    CHECK(caught == 1);
}

int main()
{
    test_call_once();
    test_static();
    test_static_race();
    test_condition();
    test_join();
    test_exception_in_thread();
    return 0;
}
