/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: each thread parses its own file into its own arena, found by a thread-local pointer;
 * the only thing they share, a chain of spare chunks, is guarded by a mutex. Main walks the lists
 * and frees the arenas after the joins. */
#include <ctype.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES 3
#define CHUNK 256

struct chunk {
    struct chunk *next;
    size_t used;
    _Alignas(max_align_t) unsigned char memory[CHUNK];
};

struct arena {
    struct chunk *chunks;
    unsigned count;
};

struct token {
    struct token *next;
    int number; /* -1 for a word */
    char text[];
};

struct file {
    const char *text;
    struct arena arena;
    struct token *tokens;
    unsigned count;
};

static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;
static struct chunk *spare;
static _Thread_local struct arena *current;

static struct chunk *get_chunk(void)
{
    pthread_mutex_lock(&spare_lock);
    struct chunk *c = spare;
    if (c)
        spare = c->next;
    pthread_mutex_unlock(&spare_lock);
    if (!c && !(c = malloc(sizeof *c)))
        abort();
    c->used = 0;
    return c;
}

static void put_chunks(struct arena *a)
{
    while (a->chunks) {
        struct chunk *c = a->chunks;
        a->chunks = c->next;
        pthread_mutex_lock(&spare_lock);
        c->next = spare;
        spare = c;
        pthread_mutex_unlock(&spare_lock);
    }
}

static void *allocate(size_t size)
{
    size_t align = _Alignof(max_align_t);
    size = (size + align - 1) / align * align;
    if (!current->chunks || current->chunks->used + size > CHUNK) {
        struct chunk *c = get_chunk();
        c->next = current->chunks;
        current->chunks = c;
        current->count++;
    }
    void *memory = current->chunks->memory + current->chunks->used;
    current->chunks->used += size;
    return memory;
}

static struct token *make_token(const char *from, size_t length)
{
    struct token *t = allocate(sizeof *t + length + 1);
    memcpy(t->text, from, length);
    t->text[length] = '\0';
    t->number = isdigit((unsigned char)t->text[0]) ? atoi(t->text) : -1;
    return t;
}

static void *parse(void *arg)
{
    struct file *f = arg;
    for (int pass = 0; pass < 3; pass++) {
        put_chunks(&f->arena);
        current = &f->arena;
        f->tokens = NULL;
        f->count = 0;
        for (const char *at = f->text; *at;) {
            size_t length = strcspn(at, " ");
            struct token *t = make_token(at, length < 100 ? length : 100);
            t->next = f->tokens;
            f->tokens = t;
            f->count++;
            at += length + strspn(at + length, " ");
        }
    }
    return NULL;
}

int main(void)
{
    struct file files[FILES] = {
        {.text = "let width 640 let height 480 draw width height until key pressed then stop"},
        {.text = "12 sheep and 7 goats went over 3 bridges on 2 rainy days without a single word"},
        {.text = "open door 4 close door 4 open window 9 close window 9 leave house at 17"}};
    pthread_t threads[FILES];
    int sum = 0;
    unsigned words = 0;
    for (int i = 0; i < FILES; i++)
        if (pthread_create(&threads[i], NULL, parse, &files[i]))
            abort();
    for (int i = 0; i < FILES; i++) {
        pthread_join(threads[i], NULL);
        for (struct token *t = files[i].tokens; t; t = t->next) {
            words += t->number < 0;
            sum += t->number < 0 ? 0 : t->number;
        }
        put_chunks(&files[i].arena);
    }
    while (spare) {
        struct chunk *c = spare;
        spare = c->next;
        free(c);
    }
    printf("%u words, sum %d\n", words, sum);
    return sum != 640 + 480 + 12 + 7 + 3 + 2 + 4 + 4 + 9 + 9 + 17;
}
