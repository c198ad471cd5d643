/* SPDX-License-Identifier: Apache-2.0 */
/* A colour table is filled in lazily, entry by entry, under a lock; but whether an entry is there
 * already is looked up without it. Both threads begin with the same entry. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH  32
#define HEIGHT 8

struct image {
    int width, height;
    uint8_t *pixels;
};

struct strip {
    struct image *image;
    int first_row, rows;
    unsigned long sum;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static uint16_t table[256];
static unsigned filled;

static uint16_t compute(unsigned value)
{
    unsigned x = value * value * 4 + 1;
    for (unsigned i = 0; i < 20; i++)
        x = (x * 3 + value) / 3 + 1;
    return (uint16_t)(x | 1);
}

static uint16_t fill_in(unsigned value)
{
    pthread_mutex_lock(&table_lock);
    uint16_t entry = table[value];
    if (entry == 0) {
        entry = compute(value);
        table[value] = entry; // RACE
        filled++;
    }
    pthread_mutex_unlock(&table_lock);
    return entry;
}

static uint16_t corrected(unsigned value)
{
    uint16_t entry = table[value]; // RACE
    return entry ? entry : fill_in(value);
}

static void *correct_strip(void *arg)
{
    struct strip *s = arg;
    for (int y = s->first_row; y < s->first_row + s->rows; y++)
        for (int x = 0; x < s->image->width; x++)
            s->sum += corrected(s->image->pixels[y * s->image->width + x]);
    return NULL;
}

static struct image *make_image(int width, int height)
{
    struct image *i = malloc(sizeof *i);
    if (!i || !(i->pixels = malloc((size_t)width * (size_t)height)))
        abort();
    i->width = width;
    i->height = height;
    for (int p = 0; p < width * height; p++)
        i->pixels[p] = (uint8_t)(p % width * 5);
    return i;
}

int main(void)
{
    struct image *image = make_image(WIDTH, HEIGHT);
    struct strip strips[2] = {{image, 0, HEIGHT / 2, 0}, {image, HEIGHT / 2, HEIGHT / 2, 0}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, correct_strip, &strips[i]))
            abort();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%lu %lu, %u entries\n", strips[0].sum, strips[1].sum, filled);
    free(image->pixels);
    free(image);
    return 0;
}
