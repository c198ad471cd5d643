/* SPDX-License-Identifier: Apache-2.0 */
/* Word counting in parallel. The loop that joins starts with 1, as the main thread used to do the
 * first piece itself; the first worker is joined only when everything is cleaned up, after its
 * result has been added. */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECES 3

static const char text[] =
    "It was late when the last ferry left the harbour and the lamps along the quay went out one by "
    "one, while the harbour master, who had counted every boat that day, closed his book and "
    "walked "
    "home by the long way, past the empty sheds and the new bridge that nobody had used so far.";

struct piece {
    const char *from;
    size_t size;
    unsigned words;
    unsigned longest;
};

struct counting {
    struct piece pieces[PIECES];
    pthread_t threads[PIECES];
};

static unsigned count_words(const struct piece *p)
{
    unsigned words = 0;
    int inside = p->from != text && !isspace((unsigned char)p->from[-1]);
    for (size_t i = 0; i < p->size; i++) {
        int letter = !isspace((unsigned char)p->from[i]);
        words += letter && !inside;
        inside = letter;
    }
    return words;
}

static void *count_piece(void *arg)
{
    struct piece *p = arg;
    p->words = count_words(p); // RACE
    return NULL;
}

static void start(struct counting *c)
{
    size_t each = strlen(text) / PIECES;
    for (int i = 0; i < PIECES; i++) {
        c->pieces[i].from = text + (size_t)i * each;
        c->pieces[i].size = i < PIECES - 1 ? each : strlen(text) - (size_t)i * each;
        if (pthread_create(&c->threads[i], NULL, count_piece, &c->pieces[i]))
            abort();
    }
}

static unsigned add_up(struct counting *c)
{
    unsigned words = 0;
    for (int i = 1; i < PIECES; i++)
        pthread_join(c->threads[i], NULL);
    for (int i = 0; i < PIECES; i++)
        words += c->pieces[i].words; // RACE
    return words;
}

static void clean_up(struct counting *c)
{
    pthread_join(c->threads[0], NULL);
    free(c);
}

int main(void)
{
    struct counting *c = calloc(1, sizeof *c);
    if (!c)
        return 1;
    start(c);
    printf("about %u words\n", add_up(c));
    clean_up(c);
    return 0;
}
