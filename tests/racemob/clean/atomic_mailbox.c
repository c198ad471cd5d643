/* SPDX-License-Identifier: Apache-2.0 */
/* A mailbox of one place: exchange with acquire and release gives a letter away and takes it. Each
 * letter is written before it is posted and read, and written upon, by whoever takes it out. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

enum { LETTERS = 20 };

struct letter {
    int text;
};

static _Atomic(struct letter *) box;

static void *post(void *arg)
{
    for (int i = 1; i <= LETTERS; i++) {
        struct letter *letter = malloc(sizeof *letter);
        must(letter != NULL);
        letter->text = i;
        while (letter) {
            letter = atomic_exchange_explicit(&box, letter, memory_order_acq_rel);
            if (letter) { /* the one before; it goes back in, with a mark */
                letter->text = letter->text % 1000 + 1000;
                sched_yield();
            }
        }
    }
    return arg;
}

static void *collect(void *arg)
{
    for (int got = 0; got < LETTERS;) {
        struct letter *letter = atomic_exchange_explicit(&box, NULL, memory_order_acq_rel);
        if (!letter) {
            sched_yield();
            continue;
        }
        must(letter->text > 0);
        letter->text = 0;
        free(letter);
        got++;
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, post, NULL);
    start(&b, collect, NULL);
    finish(a);
    finish(b);
    return 0;
}
