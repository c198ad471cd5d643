/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: the lock word goes from 0 to 1 or 2 with an acquire read-modify-write and back to 0
 * with a release exchange; the futex only lets waiters sleep and decides nothing. So each critical
 * section of the scoreboard comes after the one before. Main reads it after the joins. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLAYERS 3
#define GAMES   50
#define PLACES  5

struct flock {
    atomic_int word; /* 0 free, 1 owned, 2 owned and perhaps waited for */
    atomic_uint sleeps;
};

struct entry {
    char name[12];
    int score;
};

struct scoreboard {
    struct flock lock;
    struct entry entries[PLACES];
    int used;
    unsigned long games;
};

struct player {
    struct scoreboard *board;
    int number;
};

static void flock_acquire(struct flock *l)
{
    for (int spin = 0; spin < 50; spin++) {
        int idle = 0;
        if (atomic_compare_exchange_weak_explicit(&l->word, &idle, 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return;
    }
    while (atomic_exchange_explicit(&l->word, 2, memory_order_acquire) != 0) {
        atomic_fetch_add_explicit(&l->sleeps, 1, memory_order_relaxed);
        syscall(SYS_futex, &l->word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
    }
}

static void flock_release(struct flock *l)
{
    if (atomic_exchange_explicit(&l->word, 0, memory_order_release) == 2)
        syscall(SYS_futex, &l->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void enter_score(struct scoreboard *b, const char *name, int score)
{
    flock_acquire(&b->lock);
    b->games++;
    int at = b->used;
    while (at > 0 && b->entries[at - 1].score < score)
        at--;
    if (at < PLACES) {
        int last = b->used < PLACES ? b->used++ : PLACES - 1;
        memmove(&b->entries[at + 1], &b->entries[at], (size_t)(last - at) * sizeof b->entries[0]);
        strcpy(b->entries[at].name, name);
        b->entries[at].score = score;
    }
    flock_release(&b->lock);
}

static int play_game(unsigned *seed)
{
    int score = 0;
    do {
        *seed = *seed * 1103515245u + 12345u;
        score += (int)(*seed >> 16 & 15);
    } while (*seed >> 16 & 3);
    return score;
}

static void *play(void *arg)
{
    struct player *p = arg;
    unsigned seed = (unsigned)p->number * 99 + 1;
    char name[12];
    snprintf(name, sizeof name, "player%d", p->number);
    for (int i = 0; i < GAMES; i++)
        enter_score(p->board, name, play_game(&seed));
    return NULL;
}

int main(void)
{
    struct scoreboard *board = calloc(1, sizeof *board);
    struct player players[PLAYERS];
    pthread_t threads[PLAYERS];
    int ordered = 1;
    if (!board)
        return 1;
    for (int i = 0; i < PLAYERS; i++) {
        players[i] = (struct player){board, i};
        if (pthread_create(&threads[i], NULL, play, &players[i]))
            abort();
    }
    for (int i = 0; i < PLAYERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < board->used; i++) {
        printf("%d. %s %d\n", i + 1, board->entries[i].name, board->entries[i].score);
        ordered &= i == 0 || board->entries[i - 1].score >= board->entries[i].score;
    }
    unsigned long games = board->games;
    free(board);
    return !ordered || games != PLAYERS * GAMES;
}
