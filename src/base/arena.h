/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bump arena: many small allocations that all die together.
 *
 * An arena whose bytes are all zero is valid and empty, so RH_ARENA_INIT and calloc both make one.
 * The arena owns everything it hands out, and addresses stay valid until rh_arena_release().
 * It is not safe to use one arena from several threads at once.
 */
#ifndef RH_BASE_ARENA_H
#define RH_BASE_ARENA_H

#include "base/status.h"

#include <stddef.h>

struct rh_arena_chunk;

struct rh_arena {
    struct rh_arena_chunk *chunks; /* newest first */
    char *next;                    /* free room of the newest chunk */
    char *end;
};

#define RH_ARENA_INIT                                                                              \
    {                                                                                              \
        0                                                                                          \
    }

void rh_arena_init(struct rh_arena *arena);

/* Zeroed memory aligned for any type; a size of 0 still gives an address of its own. */
void *rh_arena_alloc(struct rh_arena *arena, size_t size);

/* The same for `count` items, with the product checked for overflow. */
void *rh_arena_alloc_array(struct rh_arena *arena, size_t count, size_t size);

/* Typed forms: `struct node *n = rh_arena_new(arena, struct node);` */
#define rh_arena_new(arena, T)          ((T *)rh_arena_alloc((arena), sizeof(T)))
#define rh_arena_array(arena, T, count) ((T *)rh_arena_alloc_array((arena), (count), sizeof(T)))

char *rh_arena_strdup(struct rh_arena *arena, const char *text);
char *rh_arena_strndup(struct rh_arena *arena, const char *text, size_t max);
char *rh_arena_printf(struct rh_arena *arena, const char *fmt, ...) RH_PRINTF(2, 3);

/* Frees everything; the arena is then empty and may be used again. */
void rh_arena_release(struct rh_arena *arena);

#endif
