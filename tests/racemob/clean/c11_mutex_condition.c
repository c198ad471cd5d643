/* SPDX-License-Identifier: Apache-2.0 */
/* mtx_t (plain, recursive, timed) and cnd_t of C11 order the accesses. */
#include "../program.h"
#include <threads.h>

enum { ROUNDS = 20 };

static mtx_t plain, timed, recursive;
static cnd_t changed;
static int turn;
static long passed, counter;

static void count(void)
{
    struct timespec until;
    do {
        timespec_get(&until, TIME_UTC);
        until.tv_sec++;
    } while (mtx_timedlock(&timed, &until) != thrd_success);
    passed++;
    mtx_unlock(&timed);
    mtx_lock(&recursive);
    while (mtx_trylock(&recursive) != thrd_success)
        thrd_yield();
    counter++;
    mtx_unlock(&recursive);
    counter++;
    mtx_unlock(&recursive);
}

static int play(void *arg)
{
    int me = arg != NULL;
    for (int i = 0; i < ROUNDS; i++) {
        mtx_lock(&plain);
        while (turn != me)
            cnd_wait(&changed, &plain);
        turn = !me;
        cnd_broadcast(&changed);
        mtx_unlock(&plain);
        count();
    }
    return me;
}

int main(void)
{
    thrd_t a, b;
    int first, second;
    mtx_init(&plain, mtx_plain);
    mtx_init(&timed, mtx_timed);
    mtx_init(&recursive, mtx_plain | mtx_recursive);
    cnd_init(&changed);
    must(thrd_create(&a, play, NULL) == thrd_success);
    must(thrd_create(&b, play, &turn) == thrd_success);
    thrd_join(a, &first);
    thrd_join(b, &second);
    must(first == 0 && second == 1);
    must(passed == 2 * ROUNDS && counter == 4 * ROUNDS);
    cnd_destroy(&changed);
    mtx_destroy(&plain);
    mtx_destroy(&timed);
    mtx_destroy(&recursive);
    return 0;
}
