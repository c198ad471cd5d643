/* SPDX-License-Identifier: Apache-2.0 */
/* Threads search the pieces of a file for a word: the pattern of pfscan. One thread puts the pieces
 * into a queue; the others read each with pread and add up the matches under a lock.
 *
 * The races are pfscan's: the number of working threads is read without its lock, and the farthest
 * piece is noted by all of them in one variable. */
#include "kernel.h"

#include <unistd.h>

#define PIECE 65536
#define ROOM  32

static const char word[] = "needle";
static FILE *file;
static long pieces, thread_count;
static long queue[ROOM], first, queued;
static int closed;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t sums_lock = PTHREAD_MUTEX_INITIALIZER;
static long matches, workers, farthest, lonely;

static void add_piece(long piece)
{
    pthread_mutex_lock(&queue_lock);
    while (queued == ROOM)
        pthread_cond_wait(&changed, &queue_lock);
    queue[(first + queued++) % ROOM] = piece;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&queue_lock);
}

/* -1 when there are no more. */
static long next_piece(void)
{
    long piece = -1;
    pthread_mutex_lock(&queue_lock);
    while (!queued && !closed)
        pthread_cond_wait(&changed, &queue_lock);
    if (queued) {
        piece = queue[first];
        first = (first + 1) % ROOM;
        queued--;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&queue_lock);
    return piece;
}

static long scan(const char *text)
{
    long found = 0;
    for (long at = 0; at + (long)sizeof(word) - 1 <= PIECE; at++) {
        size_t same = 0;
        while (same < sizeof(word) - 1 && text[at + (long)same] == word[same])
            same++;
        found += same == sizeof(word) - 1;
    }
    return found;
}

static void add(long *sum, long more)
{
    pthread_mutex_lock(&sums_lock);
    *sum += more; // RACE: workers
    pthread_mutex_unlock(&sums_lock);
}

static void *work(void *arg)
{
    char *text = allocate(1, PIECE);
    long piece;
    add(&workers, 1);
    while ((piece = next_piece()) >= 0) {
        check(pread(fileno(file), text, PIECE, piece * PIECE) == PIECE, "the file is too short");
        long found = scan(text);
        farthest = piece; // RACE: farthest
        add(&matches, found);
    }
    free(text);
    return arg;
}

/* A text in which every piece has as many matches as its number modulo 8. */
static void write_file(void)
{
    char *text = allocate(1, PIECE);
    uint64_t seed = 7;
    for (long piece = 0; piece < pieces; piece++) {
        for (int i = 0; i < PIECE; i++)
            text[i] = "eeeeddllrr  aost"[(piece ? (unsigned)text[i] * 5u + (unsigned)i
                                                : (unsigned)next_random(&seed)) %
                                         16];
        for (long i = 0; i < PIECE; i += 64)
            text[i] = '.';
        for (long i = 0; i < piece % 8; i++)
            memcpy(text + 1 + i * 64, word, sizeof(word) - 1);
        check(fwrite(text, PIECE, 1, file) == 1, "the file cannot be written");
    }
    check(fflush(file) == 0, "the file cannot be written");
    free(text);
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST_THREADS];
    pieces = argument(argc, argv, 1, 1, 1000000);
    thread_count = argument(argc, argv, 2, 1, MOST_THREADS);
    file = tmpfile();
    check(file != NULL, "no file");
    write_file();
    for (long i = 0; i < thread_count; i++)
        start(&threads[i], work, NULL);
    long expected = 0;
    for (long i = 0; i < pieces; i++) {
        lonely += workers < 2; // RACE: workers
        add_piece(i);
        expected += i % 8;
    }
    pthread_mutex_lock(&queue_lock);
    closed = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&queue_lock);
    for (long i = 0; i < thread_count; i++)
        finish(threads[i]);
    check(matches == expected, "matches are missing");
    check(workers == thread_count && farthest < pieces && lonely <= pieces, "a worker is missing");
    fclose(file);
    return 0;
}
