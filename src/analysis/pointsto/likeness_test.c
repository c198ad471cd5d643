/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which structs may lie in which others. */
#include "analysis/pointsto/internal.h"

#include <stdlib.h>

#include "base/testing.h"

enum { MOST_PARTS = 8 };

struct made {
    struct rh_type type;
    struct rh_type *elems[MOST_PARTS];
    uint64_t offsets[MOST_PARTS];
};

static struct rh_type word = {.kind = RH_TYPE_INT, .id = 1, .size = 8, .alloc_size = 8};
static struct rh_type half = {.kind = RH_TYPE_INT, .id = 2, .size = 4, .alloc_size = 4};
static struct rh_type byte = {.kind = RH_TYPE_INT, .id = 3, .size = 1, .alloc_size = 1};
static struct rh_type pointer = {.kind = RH_TYPE_PTR, .id = 4, .size = 8, .alloc_size = 8};
static uint32_t next_id = 10;

/* Puts a member behind those that the struct has. */
static void add(struct made *m, struct rh_type *part)
{
    m->type.elems = m->elems;
    m->type.offsets = m->offsets;
    m->elems[m->type.count] = part;
    m->offsets[m->type.count++] = m->type.alloc_size;
    m->type.size = m->type.alloc_size += part->alloc_size;
}

static struct made begin(const char *name)
{
    return (struct made){.type = {.kind = RH_TYPE_STRUCT, .id = next_id++, .name = name}};
}

static struct rh_type array_of(struct rh_type **elem, uint64_t count)
{
    return (struct rh_type){.kind = RH_TYPE_ARRAY,
                            .id = next_id++,
                            .count = count,
                            .elems = elem,
                            .size = count * (*elem)->alloc_size,
                            .alloc_size = count * (*elem)->alloc_size};
}

static bool holds(const struct rh_type *in, uint64_t offset, const struct rh_type *t)
{
    struct rh_pointsto *p = calloc(1, sizeof *p);
    bool answer = pt_holds(p, in, offset, t);
    rh_map_release(&p->alike);
    free(p);
    return answer;
}

static void structs_lie_where_they_are_members(void **state)
{
    (void)state;
    struct made inner = begin("struct.inner"), outer = begin("struct.outer");
    struct made other = begin("struct.other");
    add(&inner, &half);
    add(&inner, &half);
    add(&outer, &word);
    add(&outer, &inner.type);
    add(&outer, &pointer);
    add(&other, &pointer);
    add(&other, &half);
    assert_true(holds(&outer.type, 0, &outer.type));
    assert_true(holds(&outer.type, 8, &inner.type));
    assert_false(holds(&outer.type, 0, &inner.type));
    assert_false(holds(&outer.type, 16, &inner.type));
    assert_false(holds(&outer.type, 8, &other.type));
    assert_true(holds(&outer.type, 24, &other.type)); /* behind its end */
}

static void bytes_and_unions_hold_anything(void **state)
{
    (void)state;
    struct rh_type *elem = &byte;
    struct rh_type bytes = array_of(&elem, 64);
    struct made inner = begin("struct.inner"), outer = begin("struct.outer");
    struct made choice = begin("union.choice");
    add(&inner, &pointer);
    add(&choice, &word);
    add(&outer, &word);
    add(&outer, &bytes);
    add(&outer, &choice.type);
    assert_true(holds(&outer.type, 8, &inner.type));
    assert_true(holds(&outer.type, 20, &inner.type));
    assert_true(holds(&outer.type, 72, &inner.type));
    assert_false(holds(&outer.type, 0, &inner.type));
}

static void repeated_headers_are_taken_for_each_other(void **state)
{
    (void)state;
    struct made a = begin("struct.a"), b = begin("struct.b"), c = begin("struct.c");
    struct made storage = begin("struct.storage"), address = begin("struct.address");
    struct rh_type *elem = &byte;
    struct rh_type bytes = array_of(&elem, 28);
    for (int i = 0; i < 6; i++) {
        add(&a, i % 2 ? &pointer : &word);
        add(&b, i % 2 ? &pointer : &word);
    }
    add(&a, &half);
    add(&b, &pointer);
    add(&c, &word);
    add(&c, &pointer);
    add(&c, &half);
    add(&storage, &half);
    add(&storage, &bytes);
    add(&address, &half);
    add(&address, &half);
    add(&address, &word);
    assert_true(holds(&a.type, 0, &b.type));
    assert_false(holds(&a.type, 0, &c.type)); /* two members may be an accident */
    assert_true(holds(&storage.type, 0, &address.type));
    assert_false(holds(&c.type, 0, &address.type));
}

static void names_are_compared_without_numbers(void **state)
{
    (void)state;
    struct made a = begin("struct.node"), b = begin("class.node.12"), c = begin("struct.nodes");
    add(&a, &word);
    add(&b, &word);
    add(&c, &word);
    assert_true(pt_is_same(&a.type, &b.type));
    assert_false(pt_is_same(&a.type, &c.type));
    add(&b, &word);
    assert_false(pt_is_same(&a.type, &b.type));
}

struct asked {
    int64_t offset;
    uint32_t step;
    int times;
};

static bool note(void *arg, int64_t offset, uint32_t step, int64_t end)
{
    struct asked *asked = arg;
    (void)end;
    *asked = (struct asked){offset, step, asked->times + 1};
    return false;
}

static void nested_structs_are_found_in_arrays(void **state)
{
    (void)state;
    struct made inner = begin("struct.inner"), outer = begin("struct.outer");
    struct asked asked = {0};
    add(&inner, &half);
    add(&inner, &half);
    struct rh_type *elem = &inner.type;
    struct rh_type array = array_of(&elem, 4);
    add(&outer, &word);
    add(&outer, &array);
    assert_false(pt_nests(&outer.type, 0, 0, &inner.type, note, &asked));
    assert_int_equal(asked.times, 1);
    assert_int_equal(asked.offset, 8);
    assert_int_equal(asked.step, 8);
    asked.times = 0;
    assert_false(pt_nests(&inner.type, 0, 0, &outer.type, note, &asked));
    assert_int_equal(asked.times, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_lie_where_they_are_members),
        cmocka_unit_test(bytes_and_unions_hold_anything),
        cmocka_unit_test(repeated_headers_are_taken_for_each_other),
        cmocka_unit_test(names_are_compared_without_numbers),
        cmocka_unit_test(nested_structs_are_found_in_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
