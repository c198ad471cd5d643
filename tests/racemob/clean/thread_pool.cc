// SPDX-License-Identifier: Apache-2.0
/* A pool of threads that takes tasks from a locked queue and gives results by futures: each task is
 * ordered after its submission and before the get of its future. */
#include "../program.h"
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace
{
class pool
{
  public:
    explicit pool(int count)
    {
        for (int i = 0; i < count; i++)
            threads.emplace_back([this] { work(); });
    }

    ~pool()
    {
        {
            std::lock_guard<std::mutex> hold(lock);
            stopping = true;
        }
        changed.notify_all();
        for (std::thread &thread : threads)
            thread.join();
    }

    std::future<long> submit(std::function<long()> function)
    {
        auto task = std::make_shared<std::packaged_task<long()>>(std::move(function));
        std::future<long> result = task->get_future();
        {
            std::lock_guard<std::mutex> hold(lock);
            tasks.push_back([task] { (*task)(); });
        }
        changed.notify_one();
        return result;
    }

  private:
    void work()
    {
        for (;;) {
            std::unique_lock<std::mutex> hold(lock);
            changed.wait(hold, [this] { return stopping || !tasks.empty(); });
            if (tasks.empty())
                return;
            std::function<void()> task = std::move(tasks.front());
            tasks.pop_front();
            hold.unlock();
            task();
        }
    }

    std::mutex lock;
    std::condition_variable changed;
    std::deque<std::function<void()>> tasks;
    bool stopping = false;
    std::vector<std::thread> threads;
};
} // namespace

int main()
{
    std::vector<long> inputs(12), squares(12);
    std::vector<std::future<long>> results;
    pool workers(2);
    for (std::size_t i = 0; i < inputs.size(); i++) {
        inputs[i] = (long)i;
        results.push_back(workers.submit([&inputs, &squares, i] {
            squares[i] = inputs[i] * inputs[i];
            inputs[i] = -1;
            return squares[i];
        }));
    }
    for (std::size_t i = 0; i < results.size(); i++) {
        must(results[i].get() == (long)(i * i));
        must(inputs[i] == -1);
        squares[i] = 0;
    }
    return 0;
}
