/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: a player touches the deck only while it is his turn, and the turn is read and passed
 * on under the table's mutex only. So each move comes after the mutex was released by whoever moved
 * before, although the deck itself is used outside of it. Main reads after the joins. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define PLAYERS 4
#define CARDS   32
#define NOBODY  (-1)

struct deck {
    unsigned char cards[CARDS];
    int left;
    unsigned shuffles;
};

struct table {
    pthread_mutex_t lock;
    pthread_cond_t turn_passed;
    int turn;
    struct deck *deck;
};

struct player {
    struct table *table;
    int seat;
    unsigned score;
    unsigned (*strategy)(struct deck *);
};

static void shuffle(struct deck *d, unsigned seed)
{
    for (int i = d->left - 1; i > 0; i--) {
        seed = seed * 1664525u + 1013904223u;
        int j = (int)((seed >> 16) % (unsigned)(i + 1));
        unsigned char card = d->cards[i];
        d->cards[i] = d->cards[j];
        d->cards[j] = card;
    }
    d->shuffles++;
}

static unsigned draw_one(struct deck *d)
{
    return d->left > 0 ? d->cards[--d->left] : 0;
}

static unsigned draw_and_shuffle(struct deck *d)
{
    unsigned card = draw_one(d);
    shuffle(d, card);
    return card;
}

static int take_turn(struct table *t, int seat)
{
    pthread_mutex_lock(&t->lock);
    while (t->turn != seat && t->turn != NOBODY)
        pthread_cond_wait(&t->turn_passed, &t->lock);
    int mine = t->turn == seat;
    pthread_mutex_unlock(&t->lock);
    return mine;
}

static void pass_turn(struct table *t, int next)
{
    pthread_mutex_lock(&t->lock);
    t->turn = next;
    pthread_cond_broadcast(&t->turn_passed);
    pthread_mutex_unlock(&t->lock);
}

static void *play(void *arg)
{
    struct player *p = arg;
    while (take_turn(p->table, p->seat)) {
        struct deck *deck = p->table->deck;
        p->score += p->strategy(deck);
        pass_turn(p->table, deck->left > 0 ? (p->seat + 1) % PLAYERS : NOBODY);
    }
    return NULL;
}

int main(void)
{
    struct deck *deck = calloc(1, sizeof *deck);
    struct table table = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NOBODY, deck};
    struct player players[PLAYERS];
    pthread_t threads[PLAYERS];
    unsigned sum = 0;
    if (!deck)
        return 1;
    for (int i = 0; i < CARDS; i++)
        deck->cards[i] = (unsigned char)(i + 1);
    deck->left = CARDS;
    shuffle(deck, 42);
    table.turn = 0;
    for (int i = 0; i < PLAYERS; i++) {
        players[i] = (struct player){&table, i, 0, i % 2 ? draw_one : draw_and_shuffle};
        if (pthread_create(&threads[i], NULL, play, &players[i]))
            abort();
    }
    for (int i = 0; i < PLAYERS; i++) {
        pthread_join(threads[i], NULL);
        sum += players[i].score;
    }
    printf("sum %u after %u shuffles\n", sum, deck->shuffles);
    free(deck);
    return sum == CARDS * (CARDS + 1) / 2 ? 0 : 1;
}
