// SPDX-License-Identifier: Apache-2.0
/* std::call_once runs the set-up before every reader that calls it; one reader does not. */
#include "program.h"
#include <mutex>
#include <thread>

static std::once_flag once;
static int table;

static void set_up()
{
    table = next(); // RACE
}

static void careful()
{
    std::call_once(once, set_up);
    keep((unsigned long)table);
}

static void careless()
{
    keep((unsigned long)table); // RACE
}

int main()
{
    std::thread a(careful), b(careful), c(careless);
    a.join();
    b.join();
    c.join();
    return 0;
}
