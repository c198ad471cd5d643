// SPDX-License-Identifier: Apache-2.0
// A string stream that two threads write to.
// EXPECTED FAILURE -O0: an access whose stack is lost has no caller, and nothing is inlined
#include <sstream>
#include <string>
#include <thread>

struct journal {
    std::string text;
    long lines = 0;
    void add(const std::string &line)
    {
        std::ostringstream out;
        out << line << '\n';
        text = out.str(); // HEADLINE
        lines++;          // HEADLINE
    }
};

static journal shared_journal;

static void work(const char *name)
{
    for (int i = 0; i < 300; i++)
        shared_journal.add(name);
}

int main()
{
    std::thread a(work, "a"), b(work, "b");
    a.join();
    b.join();
    return shared_journal.lines == 0;
}
