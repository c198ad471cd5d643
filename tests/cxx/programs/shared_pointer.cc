// SPDX-License-Identifier: Apache-2.0
// One shared_ptr object that a thread replaces while another copies it.
#include <memory>
#include <thread>

struct settings {
    int limit;
};

static std::shared_ptr<settings> current = std::make_shared<settings>(settings{1});
int seen;

static void reload()
{
    for (int i = 0; i < 300; i++)
        current = std::make_shared<settings>(settings{i}); // HEADLINE
}

static void serve()
{
    for (int i = 0; i < 300; i++)
        if (current) // HEADLINE
            seen += 1;
}

int main()
{
    std::thread a(reload), b(serve);
    a.join();
    b.join();
    return seen < 0;
}
