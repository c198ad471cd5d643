// SPDX-License-Identifier: Apache-2.0
/* std::jthread: its destructor asks it to stop and joins it; what is before request_stop is before
 * the stop that the thread sees, and before its stop callback. */
#include "../program.h"
#include <stop_token>
#include <thread>

int main()
{
    long before = 0, rounds = 0, called = 0;
    {
        std::jthread thread([&](std::stop_token stop) {
            std::stop_callback callback(stop, [&] { called += before; });
            while (!stop.stop_requested())
                nap(200);
            must(before == 1);
            rounds = 5;
        });
        before = 1;
    }
    must(rounds == 5);
    rounds = 0;
    /* The callback ran in main, or in the thread if the request came before it was made. */
    must(called == 1);
    return 0;
}
// OPTIONS: -std=c++20
