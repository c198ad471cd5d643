/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed growable vectors.
 *
 *     RH_VEC(struct site *) sites = RH_VEC_INIT;     // or a member of a struct, zeroed
 *     rh_vec_push(&sites, site);
 *     rh_vec_each(struct site *, it, &sites)         // `it` points at each item in turn
 *         use(*it);
 *     rh_vec_free(&sites);
 *
 * Each RH_VEC(T) is a type of its own; to pass a vector between functions, give it a tag:
 * `struct site_vec RH_VEC_BODY(struct site *);`. Invariant: data[0..len) are the items, cap >= len,
 * and data may be NULL while cap is 0. The vector owns its array, never what the items point to.
 * Pushing and reserving move the items. Macros evaluate the vector argument more than once.
 */
#ifndef RH_BASE_VEC_H
#define RH_BASE_VEC_H

#include <stddef.h>
#include <stdlib.h>

#define RH_VEC_BODY(T)                                                                             \
    {                                                                                              \
        T *data;                                                                                   \
        size_t len, cap;                                                                           \
    }
#define RH_VEC(T) struct RH_VEC_BODY(T)
#define RH_VEC_INIT                                                                                \
    {                                                                                              \
        0                                                                                          \
    }

/* Makes room for `extra` more items, so that as many pushes move nothing. */
#define rh_vec_reserve(v, extra)                                                                   \
    ((void)((v)->data = rh_vec_grow((v)->data, &(v)->cap, (v)->len, (extra), sizeof *(v)->data)))

/* Appends an item; the value may be computed from the vector's own items. */
#define rh_vec_push(v, ...)                                                                        \
    do {                                                                                           \
        __typeof__(*(v)->data) rh_vec_item_ = (__VA_ARGS__);                                       \
        rh_vec_reserve((v), 1);                                                                    \
        (v)->data[(v)->len++] = rh_vec_item_;                                                      \
    } while (0)

/* Takes off and returns the last item; the vector must not be empty. */
#define rh_vec_pop(v) ((v)->data[--(v)->len])

/* The last item as an lvalue; the vector must not be empty. */
#define rh_vec_last(v) ((v)->data[(v)->len - 1])

/* Empties the vector and keeps its memory. */
#define rh_vec_clear(v) ((void)((v)->len = 0))

/* Gives the memory back; the vector is then empty and may be used again. */
#define rh_vec_free(v) (free((v)->data), (v)->data = NULL, (void)((v)->len = (v)->cap = 0))

/* Loops with `T *it` at each item; the body must not push to the vector. */
#define rh_vec_each(T, it, v) for (T *it = (v)->data; it && it < (v)->data + (v)->len; it++)

/* Behind the macros: `data`, grown if `len + extra` items do not fit in *cap. */
void *rh_vec_grow(void *data, size_t *cap, size_t len, size_t extra, size_t size);

#endif
