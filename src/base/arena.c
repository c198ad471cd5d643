/* SPDX-License-Identifier: Apache-2.0 */
/* Bump arena: chunks of zeroed memory, newest first. */
#define _GNU_SOURCE 1
#include "base/arena.h"

#include "base/mem.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Big enough that a chunk's overhead vanishes, small enough for an arena per function. */
#define CHUNK_BYTES 16384

struct rh_arena_chunk {
    struct rh_arena_chunk *older;
    alignas(max_align_t) char bytes[];
};

void rh_arena_init(struct rh_arena *arena)
{
    *arena = (struct rh_arena)RH_ARENA_INIT;
}

static struct rh_arena_chunk *add_chunk(struct rh_arena *arena, size_t size)
{
    struct rh_arena_chunk *chunk = rh_calloc(1, sizeof *chunk + size);
    chunk->older = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

void *rh_arena_alloc(struct rh_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        rh_out_of_memory(size);
    size_t step = size ? (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1)
                       : alignof(max_align_t);

    /* A large item gets a chunk of its own, so that it does not waste the room of the open one. */
    if (step > CHUNK_BYTES / 4)
        return add_chunk(arena, step)->bytes;

    if ((size_t)(arena->end - arena->next) < step) {
        struct rh_arena_chunk *chunk = add_chunk(arena, CHUNK_BYTES);
        arena->next = chunk->bytes;
        arena->end = chunk->bytes + CHUNK_BYTES;
    }
    void *item = arena->next;
    arena->next += step;
    return item;
}

void *rh_arena_alloc_array(struct rh_arena *arena, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        rh_out_of_memory(SIZE_MAX);
    return rh_arena_alloc(arena, total);
}

char *rh_arena_strdup(struct rh_arena *arena, const char *text)
{
    return rh_arena_strndup(arena, text, strlen(text));
}

char *rh_arena_strndup(struct rh_arena *arena, const char *text, size_t max)
{
    size_t len = strnlen(text, max);
    char *copy = rh_arena_alloc(arena, len + 1);
    memcpy(copy, text, len);
    return copy;
}

char *rh_arena_printf(struct rh_arena *arena, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    size_t size = len < 0 ? 1 : (size_t)len + 1;
    char *text = rh_arena_alloc(arena, size);
    if (len > 0)
        vsnprintf(text, size, fmt, again);
    va_end(again);
    return text;
}

void rh_arena_release(struct rh_arena *arena)
{
    for (struct rh_arena_chunk *chunk = arena->chunks; chunk;) {
        struct rh_arena_chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
    rh_arena_init(arena);
}
