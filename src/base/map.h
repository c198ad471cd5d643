/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash maps from 64-bit numbers and from strings, which remember the order of insertion.
 *
 * A map whose bytes are all zero is valid and empty, so RH_MAP_INIT and calloc both make one.
 * Entries stand in one dense array in the order they were first put; an open-addressing index of
 * entry numbers finds them. Walking a map therefore gives the same order in every run, also when
 * the keys are pointers. A set is a map whose values are ignored: rh_map_put() returns whether the
 * key is new. Keys are never removed.
 *
 * Walking:
 *     uint64_t key, value;
 *     for (size_t at = 0; rh_map_next(&map, &at, &key, &value);)
 * The body may overwrite values, but must not put new keys.
 */
#ifndef RH_BASE_MAP_H
#define RH_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rh_map_entry;
struct rh_strmap_entry;

struct rh_map {
    struct rh_map_entry *entries;
    uint32_t *slots; /* twice as many as `room`: by hash, 0 or an entry's position plus 1 */
    size_t len;
    size_t room; /* entries the array can hold: a power of two, or 0 */
};

#define RH_MAP_INIT                                                                                \
    {                                                                                              \
        0                                                                                          \
    }

void rh_map_init(struct rh_map *map);
void rh_map_release(struct rh_map *map);

/* The key of a pointer. */
static inline uint64_t rh_map_key(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

/* Whether the key is there; if so and `value` is not NULL, stores its value. */
bool rh_map_get(const struct rh_map *map, uint64_t key, uint64_t *value);
bool rh_map_has(const struct rh_map *map, uint64_t key);

/* Sets the key's value; true if the key is new. */
bool rh_map_put(struct rh_map *map, uint64_t key, uint64_t value);

/* The same for values that are pointers; the map does not own what they point to. */
void *rh_map_get_ptr(const struct rh_map *map, uint64_t key); /* NULL if the key is absent */
bool rh_map_put_ptr(struct rh_map *map, uint64_t key, void *value);

/* The entry at or after *at, in order of insertion; false at the end. Outputs may be NULL. */
bool rh_map_next(const struct rh_map *map, size_t *at, uint64_t *key, uint64_t *value);

/* A map from strings; it copies the keys and does not own what the values point to. */
struct rh_strmap {
    struct rh_strmap_entry *entries;
    uint32_t *slots;
    size_t len;
    size_t room;
};

#define RH_STRMAP_INIT                                                                             \
    {                                                                                              \
        0                                                                                          \
    }

void rh_strmap_init(struct rh_strmap *map);
void rh_strmap_release(struct rh_strmap *map);

/* The key's value; NULL if the key is absent, or if its value is NULL. */
void *rh_strmap_get(const struct rh_strmap *map, const char *key);
bool rh_strmap_has(const struct rh_strmap *map, const char *key);

/* Sets the key's value; true if the key is new. */
bool rh_strmap_put(struct rh_strmap *map, const char *key, void *value);

/* The entry at or after *at, in order of insertion; false at the end. Outputs may be NULL. */
bool rh_strmap_next(const struct rh_strmap *map, size_t *at, const char **key, void **value);

#endif
