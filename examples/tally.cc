/* SPDX-License-Identifier: Apache-2.0
 * A tally of words, made by tasks: std::async, a map under a mutex, and a text that all tasks share.
 * One race: a task that is told nothing of the mutex counts what it has seen without it.
 */
#include <cstdio>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>

static std::mutex guard;
static std::map<std::string, int> counts;
static long seen;

static int tally(std::shared_ptr<const std::string> text)
{
    std::istringstream words(*text);
    int own = 0;
    for (std::string word; words >> word; own++) {
        seen++;
        std::lock_guard<std::mutex> hold(guard);
        counts[word]++;
    }
    return own;
}

int main()
{
    auto text = std::make_shared<const std::string>("to be or not to be");
    auto one = std::async(std::launch::async, tally, text);
    auto two = std::async(std::launch::async, tally, text);
    int words = one.get() + two.get();
    std::printf("%d words, %ld seen, %zu different\n", words, seen, counts.size());
    return 0;
}
