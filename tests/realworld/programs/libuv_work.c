/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps libuv's thread pool busy with small items of work, and verifies their results. */
#include <stdio.h>
#include <stdlib.h>

#include <uv.h>

enum { WAITING = 64, ROUNDS = 400 };

/* Of the library with the planted race: how many items its workers have counted. */
unsigned int uv_items_done(void);

struct item {
    uv_work_t request;
    unsigned seed, result;
};

static long left, wrong, done;

static unsigned mix(unsigned seed)
{
    for (int i = 0; i < ROUNDS; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
    }
    return seed;
}

static void work(uv_work_t *request)
{
    struct item *item = request->data;

    item->result = mix(item->seed);
}

static void queue_next(uv_loop_t *loop, struct item *item);

static void after_work(uv_work_t *request, int status)
{
    struct item *item = request->data;

    wrong += status != 0 || (item->seed % 64 == 0 && item->result != mix(item->seed));
    done++;
    queue_next(request->loop, item);
}

static void queue_next(uv_loop_t *loop, struct item *item)
{
    if (left == 0)
        return;
    item->seed = (unsigned)left--;
    item->request.data = item;
    if (uv_queue_work(loop, &item->request, work, after_work) != 0)
        abort();
}

int main(int argc, char **argv)
{
    static struct item items[WAITING];

    if (argc != 2) {
        fprintf(stderr, "usage: libuv_work ITEMS\n");
        return 2;
    }
    long all = left = atol(argv[1]);
    for (int i = 0; i < WAITING; i++)
        queue_next(uv_default_loop(), &items[i]);
    if (uv_run(uv_default_loop(), UV_RUN_DEFAULT) != 0 || done != all || wrong != 0) {
        fprintf(stderr, "libuv_work: %ld of %ld items done, %ld of them wrong\n", done, all, wrong);
        return 1;
    }
    printf("%ld items verified, of which the workers have counted %u\n", all, uv_items_done());
    return 0;
}
