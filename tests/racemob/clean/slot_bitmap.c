/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: each bit of one atomic word stands for a buffer. Who sets the bit with an acquire
 * fetch_or and found it clear owns the buffer until it clears the bit with a release fetch_and. All
 * changes of the word are read-modify-writes, so the one who sets a bit comes after whoever last
 * cleared it, whatever happened to the other bits in between. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS   4
#define THREADS 3
#define ROUNDS  60

struct buffer {
    unsigned uses;
    unsigned last_user;
    char text[40];
};

struct pool {
    _Atomic uint32_t busy;
    struct buffer buffers[SLOTS];
};

struct user {
    struct pool *pool;
    unsigned number;
    unsigned wrong, changes_of_user;
};

static int claim(struct pool *p)
{
    for (;;) {
        for (int i = 0; i < SLOTS; i++) {
            uint32_t bit = 1u << i;
            if (atomic_load_explicit(&p->busy, memory_order_relaxed) & bit)
                continue;
            if (!(atomic_fetch_or_explicit(&p->busy, bit, memory_order_acquire) & bit))
                return i;
        }
        sched_yield();
    }
}

static void give_up(struct pool *p, int slot)
{
    atomic_fetch_and_explicit(&p->busy, ~(1u << slot), memory_order_release);
}

static int check(const struct buffer *b)
{
    char text[40];
    if (b->uses == 0)
        return 1;
    snprintf(text, sizeof text, "use %u by %u", b->uses, b->last_user);
    return !strcmp(text, b->text);
}

static void scribble(struct buffer *b, unsigned user)
{
    b->uses++;
    b->last_user = user;
    snprintf(b->text, sizeof b->text, "use %u by %u", b->uses, user);
}

static void *work(void *arg)
{
    struct user *u = arg;
    for (int i = 0; i < ROUNDS; i++) {
        int slot = claim(u->pool);
        struct buffer *b = &u->pool->buffers[slot];
        u->wrong += !check(b);
        u->changes_of_user += b->last_user != u->number;
        scribble(b, u->number);
        give_up(u->pool, slot);
    }
    return NULL;
}

int main(void)
{
    struct pool *pool = calloc(1, sizeof *pool);
    struct user users[THREADS];
    pthread_t threads[THREADS];
    unsigned uses = 0, wrong = 0;
    if (!pool)
        return 1;
    for (unsigned i = 0; i < THREADS; i++) {
        users[i] = (struct user){pool, i + 1, 0, 0};
        if (pthread_create(&threads[i], NULL, work, &users[i]))
            abort();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        wrong += users[i].wrong;
    }
    for (int i = 0; i < SLOTS; i++)
        uses += pool->buffers[i].uses;
    printf("%u uses, %u wrong\n", uses, wrong);
    free(pool);
    return wrong != 0 || uses != THREADS * ROUNDS;
}
