/* SPDX-License-Identifier: Apache-2.0 */
/* Players trade coins. A trade locks the giver and forgets the taker: what one trade does to the
 * taker's purse races with what another does to the same player as giver. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRADES = 50 };

/* The two numbers are apart, or some compilers store both at once, with the line of the first. */
struct player {
    pthread_mutex_t lock;
    long trades;
    char name[16];
    long coins;
};

struct trader {
    struct player *from, *to;
    long (*price)(int round);
};

static long fixed_price(int round)
{
    (void)round;
    return 3;
}

static long rising_price(int round)
{
    return 1 + round / 10;
}

static struct player *new_player(const char *name, long coins)
{
    struct player *p = calloc(1, sizeof *p);
    if (!p || pthread_mutex_init(&p->lock, NULL))
        abort();
    snprintf(p->name, sizeof p->name, "%s", name);
    p->coins = coins;
    return p;
}

static void trade(struct player *from, struct player *to, long amount)
{
    pthread_mutex_lock(&from->lock);
    from->trades++;
    from->coins -= amount; // RACE
    to->coins += amount;   // RACE
    pthread_mutex_unlock(&from->lock);
}

static void *trade_all_day(void *arg)
{
    struct trader *t = arg;
    for (int i = 0; i < TRADES; i++)
        trade(t->from, t->to, t->price(i));
    return NULL;
}

static void remove_player(struct player *p)
{
    printf("%s: %ld coins after %ld trades\n", p->name, p->coins, p->trades);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

int main(void)
{
    struct player *alice = new_player("alice", 500), *bob = new_player("bob", 500);
    struct trader jobs[2] = {{alice, bob, fixed_price}, {bob, alice, rising_price}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, trade_all_day, &jobs[i]))
            abort();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    remove_player(alice);
    remove_player(bob);
    return 0;
}
