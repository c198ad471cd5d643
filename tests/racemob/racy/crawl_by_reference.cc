// SPDX-License-Identifier: Apache-2.0
// A crawler starts a thread for each host with a lambda that captures everything by reference. The
// list of pages is guarded; the count of dead links, a local variable of the starter, is not, and
// each thread adds to it after its last unlock.
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Host {
    std::string name;
    std::vector<std::string> links;
};

class Pages {
public:
    void add(const std::string &host, const std::string &link)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        pages_[host] += link.size();
    }

    std::size_t total() const
    {
        std::lock_guard<std::mutex> guard(mutex_);
        std::size_t sum = 0;
        for (const auto &page : pages_)
            sum += page.second;
        return sum;
    }

private:
    mutable std::mutex mutex_;
    std::map<std::string, std::size_t> pages_;
};

static bool is_dead(const std::string &link)
{
    return link.find("404") != std::string::npos;
}

static unsigned crawl(const std::vector<Host> &hosts, Pages &pages)
{
    unsigned dead_links = 0;
    std::vector<std::thread> threads;
    threads.reserve(hosts.size());
    for (const Host &host : hosts)
        threads.emplace_back([&dead_links, &pages, &host] {
            unsigned dead = 0;
            for (const std::string &link : host.links) {
                if (is_dead(link))
                    dead++;
                else
                    pages.add(host.name, link);
            }
            dead_links += dead; // RACE
        });
    for (std::thread &thread : threads)
        thread.join();
    return dead_links;
}

static std::vector<Host> make_hosts()
{
    std::vector<Host> hosts;
    for (int h = 0; h < 3; h++) {
        Host host{"host" + std::to_string(h), {}};
        for (int l = 0; l < 12; l++)
            host.links.push_back("/page/" + std::to_string(l * (h + 1)) + (l % 4 ? "" : "-404"));
        hosts.push_back(std::move(host));
    }
    return hosts;
}

int main()
{
    const std::vector<Host> hosts = make_hosts();
    Pages pages;
    unsigned dead = crawl(hosts, pages);
    std::printf("%zu letters, %u dead links\n", pages.total(), dead);
    return 0;
}
