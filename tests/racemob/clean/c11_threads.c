/* SPDX-License-Identifier: Apache-2.0 */
/* thrd_create and thrd_join order what two threads do one after the other; thrd_exit ends one. */
#include "../program.h"
#include <threads.h>

static long data;

static NOINLINE void leave(int value)
{
    data += value;
    thrd_exit(value);
}

static int work(void *arg)
{
    data += *(int *)arg;
    leave(3);
    return 0;
}

int main(void)
{
    for (int i = 0; i < 4; i++) {
        thrd_t thread;
        int result = 0, argument = i;
        data++;
        must(thrd_create(&thread, work, &argument) == thrd_success);
        must(!unforeseen(1) || thrd_join(thread, &result) == thrd_success);
        must(result == 3);
        data++;
    }
    must(data == 4 * 2 + 0 + 1 + 2 + 3 + 4 * 3);
    return 0;
}
