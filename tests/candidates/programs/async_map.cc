// SPDX-License-Identifier: Apache-2.0
/* Tasks of std::async count words in a map under a mutex; what one of them keeps of its own without
 * the mutex, main changes as well. A shared_ptr that is assigned while it is copied races. */
#include "program.h"
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>

static std::mutex guard;
static std::map<std::string, int> counts;
static std::shared_ptr<int> current = std::make_shared<int>(1);
static int total, finished;

static int count(std::shared_ptr<std::string> word)
{
    std::lock_guard<std::mutex> hold(guard);
    total += next(); // NORACE
    return ++counts[*word];
}

static int watch()
{
    finished++; // RACE
    keep((unsigned long)*current);
    return 0;
}

int main()
{
    auto word = std::make_shared<std::string>("word");
    auto one = std::async(std::launch::async, count, word);
    auto two = std::async(std::launch::async, count, word);
    auto three = std::async(std::launch::async, watch);
    finished--; // RACE
    keep((unsigned long)(one.get() + two.get() + three.get()));
    return 0;
}
