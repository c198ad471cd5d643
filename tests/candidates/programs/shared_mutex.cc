// SPDX-License-Identifier: Apache-2.0
/* std::shared_mutex: shared_lock to read, unique_lock to write, and one write under the former. */
#include "program.h"
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex lock;
static int guarded, hits;

static void read_it()
{
    std::shared_lock<std::shared_mutex> hold(lock);
    keep((unsigned long)guarded); // NORACE
    hits += next();               // RACE
}

static void write_it()
{
    std::unique_lock<std::shared_mutex> hold(lock);
    guarded = next(); // NORACE
}

int main()
{
    std::thread a(read_it), b(read_it), c(write_it);
    a.join();
    b.join();
    c.join();
    keep((unsigned long)hits);
    return 0;
}
