/* SPDX-License-Identifier: Apache-2.0 */
/* Work that libuv's thread pool does, and what its loop does when it is done: both count in common
 * memory. The pool's threads are not ordered with each other. */
// NEEDS: pkg:libuv
#include <uv.h>

#include "../../racemob/program.h"

enum { REQUESTS = 100 };

static int done;
static uv_work_t requests[REQUESTS];

static void work(uv_work_t *request)
{
    done += next(); // RACE
    nap(100);
    (void)request;
}

static void after(uv_work_t *request, int status)
{
    (void)request;
    (void)status;
}

int main(void)
{
    uv_loop_t *loop = uv_default_loop();
    for (int i = 0; i < REQUESTS; i++)
        must(uv_queue_work(loop, &requests[i], work, after) == 0);
    uv_run(loop, UV_RUN_DEFAULT);
    keep((unsigned long)done);
    return 0;
}
