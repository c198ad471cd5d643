/* SPDX-License-Identifier: Apache-2.0 */
/* Insertion-ordered hash maps: a dense array of entries and an open-addressing index into it. */
#include "base/map.h"

#include "base/hash.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define MIN_ROOM  8
#define NOT_FOUND SIZE_MAX

/* Every entry holds one slot, and there are twice as many slots as entries: a probe always meets an
 * empty slot. */
struct rh_map_entry {
    uint64_t key;
    uint64_t value;
};

struct rh_strmap_entry {
    char *key;
    void *value;
    uint64_t hash;
};

static size_t choose_room(size_t len)
{
    size_t room = MIN_ROOM;
    while (room < 2 * len)
        room *= 2;
    if (room > UINT32_MAX / 2)
        rh_out_of_memory(SIZE_MAX);
    return room;
}

static void index_entry(uint32_t *slots, size_t room, uint64_t hash, size_t position)
{
    size_t mask = 2 * room - 1;
    size_t at = hash & mask;
    while (slots[at] != 0)
        at = (at + 1) & mask;
    slots[at] = (uint32_t)(position + 1);
}

/* The finaliser of splitmix64: pointers and small numbers differ in few bits, slots need all. */
static uint64_t mix_key(uint64_t key)
{
    key = (key ^ (key >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    key = (key ^ (key >> 27)) * UINT64_C(0x94d049bb133111eb);
    return key ^ (key >> 31);
}

void rh_map_init(struct rh_map *map)
{
    *map = (struct rh_map)RH_MAP_INIT;
}

void rh_map_release(struct rh_map *map)
{
    free(map->entries);
    free(map->slots);
    rh_map_init(map);
}

static size_t find_key(const struct rh_map *map, uint64_t key)
{
    if (map->len == 0)
        return NOT_FOUND;
    size_t mask = 2 * map->room - 1;
    for (size_t at = mix_key(key) & mask; map->slots[at] != 0; at = (at + 1) & mask) {
        size_t position = map->slots[at] - 1;
        if (map->entries[position].key == key)
            return position;
    }
    return NOT_FOUND;
}

static void grow_map(struct rh_map *map)
{
    map->room = choose_room(map->len);
    map->entries = rh_realloc_array(map->entries, map->room, sizeof *map->entries);
    free(map->slots);
    map->slots = rh_calloc(2 * map->room, sizeof *map->slots);
    for (size_t i = 0; i < map->len; i++)
        index_entry(map->slots, map->room, mix_key(map->entries[i].key), i);
}

bool rh_map_get(const struct rh_map *map, uint64_t key, uint64_t *value)
{
    size_t position = find_key(map, key);
    if (position == NOT_FOUND)
        return false;
    if (value)
        *value = map->entries[position].value;
    return true;
}

bool rh_map_has(const struct rh_map *map, uint64_t key)
{
    return find_key(map, key) != NOT_FOUND;
}

bool rh_map_put(struct rh_map *map, uint64_t key, uint64_t value)
{
    size_t position = find_key(map, key);
    if (position != NOT_FOUND) {
        map->entries[position].value = value;
        return false;
    }
    if (map->len == map->room)
        grow_map(map);
    map->entries[map->len] = (struct rh_map_entry){key, value};
    index_entry(map->slots, map->room, mix_key(key), map->len);
    map->len++;
    return true;
}

void *rh_map_get_ptr(const struct rh_map *map, uint64_t key)
{
    size_t position = find_key(map, key);
    return position == NOT_FOUND ? NULL : (void *)(uintptr_t)map->entries[position].value;
}

bool rh_map_put_ptr(struct rh_map *map, uint64_t key, void *value)
{
    return rh_map_put(map, key, rh_map_key(value));
}

bool rh_map_next(const struct rh_map *map, size_t *at, uint64_t *key, uint64_t *value)
{
    if (*at >= map->len)
        return false;
    const struct rh_map_entry *entry = &map->entries[(*at)++];
    if (key)
        *key = entry->key;
    if (value)
        *value = entry->value;
    return true;
}

void rh_strmap_init(struct rh_strmap *map)
{
    *map = (struct rh_strmap)RH_STRMAP_INIT;
}

void rh_strmap_release(struct rh_strmap *map)
{
    for (size_t i = 0; i < map->len; i++)
        free(map->entries[i].key);
    free(map->entries);
    free(map->slots);
    rh_strmap_init(map);
}

static size_t find_string(const struct rh_strmap *map, const char *key, uint64_t hash)
{
    if (map->len == 0)
        return NOT_FOUND;
    size_t mask = 2 * map->room - 1;
    for (size_t at = hash & mask; map->slots[at] != 0; at = (at + 1) & mask) {
        const struct rh_strmap_entry *entry = &map->entries[map->slots[at] - 1];
        if (entry->hash == hash && strcmp(entry->key, key) == 0)
            return map->slots[at] - 1;
    }
    return NOT_FOUND;
}

static uint64_t hash_string(const char *key)
{
    return rh_hash_bytes(key, strlen(key));
}

static void grow_strmap(struct rh_strmap *map)
{
    map->room = choose_room(map->len);
    map->entries = rh_realloc_array(map->entries, map->room, sizeof *map->entries);
    free(map->slots);
    map->slots = rh_calloc(2 * map->room, sizeof *map->slots);
    for (size_t i = 0; i < map->len; i++)
        index_entry(map->slots, map->room, map->entries[i].hash, i);
}

/* The position of the key, which is added with a NULL value if absent. */
static size_t put_string(struct rh_strmap *map, const char *key, bool *is_new)
{
    uint64_t hash = hash_string(key);
    size_t position = find_string(map, key, hash);
    *is_new = position == NOT_FOUND;
    if (!*is_new)
        return position;
    if (map->len == map->room)
        grow_strmap(map);
    position = map->len++;
    map->entries[position] = (struct rh_strmap_entry){rh_strdup(key), NULL, hash};
    index_entry(map->slots, map->room, hash, position);
    return position;
}

void *rh_strmap_get(const struct rh_strmap *map, const char *key)
{
    size_t position = find_string(map, key, hash_string(key));
    return position == NOT_FOUND ? NULL : map->entries[position].value;
}

bool rh_strmap_has(const struct rh_strmap *map, const char *key)
{
    return find_string(map, key, hash_string(key)) != NOT_FOUND;
}

bool rh_strmap_put(struct rh_strmap *map, const char *key, void *value)
{
    bool is_new;
    size_t position = put_string(map, key, &is_new);
    map->entries[position].value = value;
    return is_new;
}

bool rh_strmap_next(const struct rh_strmap *map, size_t *at, const char **key, void **value)
{
    if (*at >= map->len)
        return false;
    const struct rh_strmap_entry *entry = &map->entries[(*at)++];
    if (key)
        *key = entry->key;
    if (value)
        *value = entry->value;
    return true;
}
