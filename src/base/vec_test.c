/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of typed vectors. */
#include "base/testing.h"
#include "base/vec.h"

#include <string.h>

struct point {
    int x, y;
};

struct point_vec RH_VEC_BODY(struct point);

static void test_push_grow_pop(void **state)
{
    (void)state;
    RH_VEC(int) v = RH_VEC_INIT;
    for (int i = 0; i < 10000; i++) {
        rh_vec_push(&v, i * 3);
        assert_int_equal(v.len, i + 1);
        assert_true(v.cap >= v.len);
    }
    for (int i = 0; i < 10000; i++)
        assert_int_equal(v.data[i], i * 3);
    assert_int_equal(rh_vec_last(&v), 29997);
    for (int i = 9999; i >= 0; i--)
        assert_int_equal(rh_vec_pop(&v), i * 3);
    assert_int_equal(v.len, 0);
    rh_vec_free(&v);
    assert_null(v.data);
    assert_int_equal(v.cap, 0);
}

static int sum_points(const struct point_vec *v)
{
    int sum = 0;
    rh_vec_each (const struct point, it, v)
        sum += it->x * it->y;
    return sum;
}

static void test_structs_and_tagged_types(void **state)
{
    (void)state;
    struct point_vec v = RH_VEC_INIT;
    assert_int_equal(sum_points(&v), 0);
    rh_vec_push(&v, (struct point){2, 3});
    rh_vec_push(&v, (struct point){.x = 4, .y = 5});
    assert_int_equal(sum_points(&v), 26);
    rh_vec_free(&v);
}

static void test_each_over_pointers(void **state)
{
    (void)state;
    RH_VEC(const char *) v = RH_VEC_INIT;
    size_t seen = 0;
    rh_vec_each (const char *, it, &v)
        seen++;
    assert_int_equal(seen, 0);
    rh_vec_push(&v, "first");
    rh_vec_push(&v, "second");
    rh_vec_each (const char *, it, &v) {
        assert_string_equal(*it, seen == 0 ? "first" : "second");
        seen++;
    }
    assert_int_equal(seen, 2);
    rh_vec_clear(&v);
    rh_vec_each (const char *, it, &v)
        seen++;
    assert_int_equal(seen, 2);
    rh_vec_free(&v);
}

/* Pushing an item of the vector itself must read it before the array moves. */
static void test_push_own_item(void **state)
{
    (void)state;
    RH_VEC(uint64_t) v = RH_VEC_INIT;
    rh_vec_push(&v, UINT64_C(42));
    uint64_t *first = v.data;
    while (v.len < v.cap)
        rh_vec_push(&v, *first);
    rh_vec_push(&v, *first);
    assert_int_equal(rh_vec_last(&v), 42);
    rh_vec_free(&v);
}

static void test_reserve_keeps_items_in_place(void **state)
{
    (void)state;
    RH_VEC(int) v = RH_VEC_INIT;
    rh_vec_push(&v, 1);
    rh_vec_reserve(&v, 1000);
    const int *before = v.data;
    for (int i = 0; i < 1000; i++)
        rh_vec_push(&v, i);
    assert_ptr_equal(before, v.data);
    rh_vec_reserve(&v, 0);
    assert_ptr_equal(before, v.data);
    rh_vec_free(&v);
}

static void overflow_reserve(void)
{
    RH_VEC(uint64_t) v = RH_VEC_INIT;
    rh_vec_push(&v, UINT64_C(1));
    rh_vec_reserve(&v, SIZE_MAX);
}

static void overflow_bytes(void)
{
    RH_VEC(uint64_t) v = RH_VEC_INIT;
    rh_vec_reserve(&v, SIZE_MAX / 4);
}

static void test_overflow_is_out_of_memory(void **state)
{
    (void)state;
    void (*const bodies[])(void) = {overflow_reserve, overflow_bytes};
    for (size_t i = 0; i < 2; i++) {
        struct rh_strbuf said = RH_STRBUF_INIT;
        int status = sacrifice(bodies[i], &said);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        assert_non_null(strstr(rh_strbuf_text(&said), "out of memory"));
        rh_strbuf_release(&said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push_grow_pop),
        cmocka_unit_test(test_structs_and_tagged_types),
        cmocka_unit_test(test_each_over_pointers),
        cmocka_unit_test(test_push_own_item),
        cmocka_unit_test(test_reserve_keeps_items_in_place),
        cmocka_unit_test(test_overflow_is_out_of_memory),
    };
    return cmocka_run_group_tests_name("vec", tests, NULL, NULL);
}
