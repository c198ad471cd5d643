/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of both hash maps, also against a plain list under random operations. */
#include "base/map.h"
#include "base/testing.h"

#include <stdio.h>
#include <string.h>

static void test_empty_maps(void **state)
{
    (void)state;
    struct rh_map map = RH_MAP_INIT;
    uint64_t key = 7, value = 8;
    size_t at = 0;
    assert_false(rh_map_get(&map, 0, &value));
    assert_false(rh_map_has(&map, 0));
    assert_null(rh_map_get_ptr(&map, 0));
    assert_false(rh_map_next(&map, &at, &key, &value));
    assert_true(key == 7 && value == 8);
    rh_map_release(&map);

    struct rh_strmap strmap = RH_STRMAP_INIT;
    assert_null(rh_strmap_get(&strmap, ""));
    assert_false(rh_strmap_next(&strmap, &at, NULL, NULL));
    rh_strmap_release(&strmap);
}

static void test_put_get_replace(void **state)
{
    (void)state;
    struct rh_map map = RH_MAP_INIT;
    uint64_t value;
    assert_true(rh_map_put(&map, 0, 10));
    assert_true(rh_map_put(&map, UINT64_MAX, 11));
    assert_false(rh_map_put(&map, 0, 12));
    assert_int_equal(map.len, 2);
    assert_true(rh_map_get(&map, 0, &value) && value == 12);
    assert_true(rh_map_get(&map, UINT64_MAX, &value) && value == 11);
    assert_true(rh_map_get(&map, 0, NULL));
    assert_true(rh_map_has(&map, 0));
    assert_false(rh_map_has(&map, 1));
    rh_map_release(&map);
}

static void test_pointers_as_keys_and_values(void **state)
{
    (void)state;
    struct rh_map map = RH_MAP_INIT;
    int items[200];
    for (int i = 0; i < 200; i++)
        assert_true(rh_map_put_ptr(&map, rh_map_key(&items[i]), &items[199 - i]));
    for (int i = 0; i < 200; i++)
        assert_ptr_equal(rh_map_get_ptr(&map, rh_map_key(&items[i])), &items[199 - i]);
    size_t at = 0;
    uint64_t key;
    for (int i = 0; rh_map_next(&map, &at, &key, NULL); i++)
        assert_true(key == rh_map_key(&items[i]));
    rh_map_release(&map);
}

/* The model: a list in order of insertion, searched from end to end. */
#define MODEL_KEYS 400

struct model {
    size_t len;
    uint64_t keys[MODEL_KEYS];
    uint64_t values[MODEL_KEYS];
};

static size_t find_in_model(const struct model *model, uint64_t key)
{
    size_t i = 0;
    while (i < model->len && model->keys[i] != key)
        i++;
    return i;
}

static bool put_in_model(struct model *model, uint64_t key, uint64_t value)
{
    size_t i = find_in_model(model, key);
    bool is_new = i == model->len;
    model->len += is_new;
    model->keys[i] = key;
    model->values[i] = value;
    return is_new;
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Keys with equal low halves, so that only the mixing spreads them. */
static uint64_t spread_key(uint64_t number)
{
    return number << 32;
}

static void assert_same_walk(const struct rh_map *map, const struct model *model)
{
    uint64_t key, value;
    size_t at = 0;
    for (size_t i = 0; i < model->len; i++) {
        assert_true(rh_map_next(map, &at, &key, &value));
        assert_true(key == spread_key(model->keys[i]) && value == model->values[i]);
    }
    assert_false(rh_map_next(map, &at, &key, &value));
}

static void test_map_against_model(void **state)
{
    (void)state;
    uint64_t seed = 20240607;
    for (int round = 0; round < 4; round++) {
        struct rh_map map = RH_MAP_INIT;
        struct model model = {0};
        for (int step = 0; step < 5000; step++) {
            uint64_t number = next_random(&seed) % MODEL_KEYS, value = next_random(&seed);
            uint64_t key = spread_key(number), got;
            size_t i = find_in_model(&model, number);
            assert_int_equal(rh_map_get(&map, key, &got), i < model.len);
            if (i < model.len)
                assert_true(got == model.values[i]);
            if (next_random(&seed) % 4 == 0)
                assert_int_equal(rh_map_put(&map, key, value), put_in_model(&model, number, value));
            assert_int_equal(map.len, model.len);
            if (step % 500 == 0)
                assert_same_walk(&map, &model);
        }
        assert_same_walk(&map, &model);
        rh_map_release(&map);
    }
}

static void test_strmap_against_model(void **state)
{
    (void)state;
    uint64_t seed = 99;
    struct rh_strmap map = RH_STRMAP_INIT;
    struct model model = {0};
    static char targets[MODEL_KEYS];
    for (int step = 0; step < 20000; step++) {
        uint64_t number = next_random(&seed) % MODEL_KEYS, pick = next_random(&seed) % MODEL_KEYS;
        char key[32];
        snprintf(key, sizeof key, "key-%u", (unsigned)number);
        size_t i = find_in_model(&model, number);
        assert_int_equal(rh_strmap_has(&map, key), i < model.len);
        assert_ptr_equal(rh_strmap_get(&map, key),
                         i < model.len ? &targets[model.values[i]] : NULL);
        if (next_random(&seed) % 2)
            assert_int_equal(rh_strmap_put(&map, key, &targets[pick]),
                             put_in_model(&model, number, pick));
        assert_int_equal(map.len, model.len);
    }
    const char *key;
    void *value;
    size_t at = 0;
    for (size_t i = 0; i < model.len; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "key-%u", (unsigned)model.keys[i]);
        assert_true(rh_strmap_next(&map, &at, &key, &value));
        assert_string_equal(key, expected);
        assert_ptr_equal(value, &targets[model.values[i]]);
    }
    assert_false(rh_strmap_next(&map, &at, &key, &value));
    rh_strmap_release(&map);
}

static void test_strmap_copies_its_keys(void **state)
{
    (void)state;
    struct rh_strmap map = RH_STRMAP_INIT;
    char key[] = "racemob";
    assert_true(rh_strmap_put(&map, key, &map));
    key[0] = 'x';
    assert_ptr_equal(rh_strmap_get(&map, "racemob"), &map);
    assert_null(rh_strmap_get(&map, key));

    assert_true(rh_strmap_put(&map, "", key));
    assert_ptr_equal(rh_strmap_get(&map, ""), key);
    rh_strmap_release(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_maps),
        cmocka_unit_test(test_put_get_replace),
        cmocka_unit_test(test_pointers_as_keys_and_values),
        cmocka_unit_test(test_map_against_model),
        cmocka_unit_test(test_strmap_against_model),
        cmocka_unit_test(test_strmap_copies_its_keys),
    };
    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
