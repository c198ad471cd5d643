/* SPDX-License-Identifier: Apache-2.0 */
/* Requests go from libuv's loop to its thread pool and back: each is filled by the loop, changed by
 * a thread of the pool, and read by the loop, which alone counts. */
// NEEDS: pkg:libuv
#include <uv.h>

#include "../../racemob/program.h"

enum { REQUESTS = 100, WORDS = 8 };

struct request {
    uv_work_t work;
    long words[WORDS];
};

static long total;
static int begun;
static uv_loop_t *loop;

static void begin(void);

static void work(uv_work_t *w)
{
    struct request *r = w->data;
    for (int i = 0; i < WORDS; i++)
        r->words[i] *= 2;
}

static void after(uv_work_t *w, int status)
{
    struct request *r = w->data;
    for (int i = 0; i < WORDS; i++)
        total += r->words[i];
    free(r);
    begin();
    (void)status;
}

static void begin(void)
{
    if (begun >= REQUESTS)
        return;
    begun++;
    struct request *r = malloc(sizeof *r);
    for (int i = 0; i < WORDS; i++)
        r->words[i] = next();
    r->work.data = r;
    must(uv_queue_work(loop, &r->work, work, after) == 0);
}

int main(void)
{
    loop = uv_default_loop();
    for (int i = 0; i < 8; i++)
        begin();
    uv_run(loop, UV_RUN_DEFAULT);
    keep((unsigned long)total);
    return 0;
}
