/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: the code table is built by whoever comes first through pthread_once, and every decoder
 * passes the same pthread_once before it reads the table, which never changes again. Each decoder
 * keeps what it decoded last in a thread-local cache and writes only its own result. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECODERS 3
#define SYMBOLS  6
#define TABLE    64

struct code {
    char symbol;
    uint8_t length;
};

struct decoding {
    const char *bits;
    char text[48];
    unsigned cached;
};

static pthread_once_t table_once = PTHREAD_ONCE_INIT;
static struct code *table;
static unsigned times_built;

static _Thread_local unsigned cached_key;
static _Thread_local struct code cached_code;

static const struct {
    char symbol;
    const char *bits;
} codes[SYMBOLS] = {{'e', "0"},    {'n', "10"},    {'s', "110"},
                    {'t', "1110"}, {'o', "11110"}, {' ', "11111"}};

static unsigned window(const char *bits, size_t length)
{
    unsigned key = 0;
    for (size_t i = 0; i < 6; i++)
        key = key << 1 | (i < length && bits[i] == '1');
    return key;
}

static void build_table(void)
{
    table = calloc(TABLE, sizeof *table);
    if (!table)
        abort();
    for (int s = 0; s < SYMBOLS; s++) {
        size_t length = strlen(codes[s].bits);
        unsigned first = window(codes[s].bits, length);
        for (unsigned i = 0; i < 1u << (6 - length); i++)
            table[first + i] = (struct code){codes[s].symbol, (uint8_t)length};
    }
    times_built++;
}

static struct code look_up(unsigned key, unsigned *cached)
{
    pthread_once(&table_once, build_table);
    if (key == cached_key && cached_code.length) {
        ++*cached;
        return cached_code;
    }
    cached_key = key;
    cached_code = table[key];
    return cached_code;
}

static void *decode(void *arg)
{
    struct decoding *d = arg;
    size_t length = strlen(d->bits), at = 0, n = 0;
    while (at < length && n < sizeof d->text - 1) {
        struct code c = look_up(window(d->bits + at, length - at), &d->cached);
        d->text[n++] = c.symbol;
        at += c.length;
    }
    d->text[n] = '\0';
    return NULL;
}

int main(void)
{
    static struct decoding decodings[DECODERS] = {
        {.bits = "111010111100"}, {.bits = "0000000000"}, {.bits = "110011111101111011100"}};
    pthread_t threads[DECODERS];
    for (int i = 0; i < DECODERS; i++)
        if (pthread_create(&threads[i], NULL, decode, &decodings[i]))
            abort();
    for (int i = 0; i < DECODERS; i++) {
        pthread_join(threads[i], NULL);
        printf("\"%s\" (%u from the cache)\n", decodings[i].text, decodings[i].cached);
    }
    free(table);
    return times_built != 1;
}
