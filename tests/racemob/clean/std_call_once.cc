// SPDX-License-Identifier: Apache-2.0
/* std::call_once, also when the first call throws: what the call that succeeds writes is before
 * the return of all. ThreadSanitizer cannot run it: after an exception its pthread_once waits
 * for ever. */
#include "../program.h"
#include <mutex>
#include <stdexcept>
#include <thread>

namespace
{
std::once_flag once;
long value;
int attempts, stage;

void set()
{
    if (attempts++ == 0)
        throw std::runtime_error("not yet");
    value = 12;
}

void early()
{
    for (bool done = false; !done;) {
        try {
            std::call_once(once, set);
            done = true;
        } catch (const std::runtime_error &) {
        }
    }
    must(value == 12);
    tell(&stage, 1);
}

void late()
{
    await(&stage, 1);
    std::call_once(once, set);
    must(value == 12 && attempts == 2);
}
} // namespace

int main()
{
    std::thread b(late), a(early);
    a.join();
    b.join();
    return 0;
}
// TSAN: cannot, after an exception its pthread_once waits for ever
