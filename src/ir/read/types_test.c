/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of types in the snapshot: sizes, fields and what has many parts.
 */
#include "ir/ir.h"

#include <stdbool.h>

#include "ir/testing.h"

static const struct rh_type *get_type(const struct rh_module *m, const char *global)
{
    struct rh_value *v = rh_ir_find_global(m, global);

    assert_non_null(v);
    return v->global->value_type;
}

static const char type_module[] =
    "target datalayout = \"e-m:e-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n"
    "target triple = \"x86_64-pc-linux-gnu\"\n"
    "%pair = type { i8, i64, [3 x i16] }\n"
    "%packed = type <{ i8, i64 }>\n"
    "%secret = type opaque\n"
    "@i = global i24 0\n"
    "@x = global x86_fp80 zeroinitializer\n"
    "@p = global ptr null\n"
    "@s = global %pair zeroinitializer\n"
    "@k = global %packed zeroinitializer\n"
    "@a = global [5 x %pair] zeroinitializer\n"
    "@v = global <3 x i32> zeroinitializer\n"
    "@o = external global %secret\n"
    "define i1 @f(i8 %a, ...) {\n"
    "  %scalable = alloca <vscale x 4 x i32>\n"
    "  %holder = alloca { <vscale x 2 x i64>, <vscale x 2 x i64> }\n"
    "  ret i1 true\n"
    "}\n";

static void test_types(void **state)
{
    struct rh_module *m = open_text(type_module);
    struct rh_function *f = get_function(m, "f");
    const struct rh_type *t = get_type(m, "i");

    (void)state;
    assert_int_equal(t->kind, RH_TYPE_INT);
    assert_int_equal(t->bits, 24);
    assert_int_equal(t->size, 3);
    assert_int_equal(t->alloc_size, 4);
    t = get_type(m, "x");
    assert_int_equal(t->kind, RH_TYPE_FLOAT);
    assert_int_equal(t->bits, 80);
    assert_int_equal(t->size, 10);
    assert_int_equal(t->alloc_size, 16);
    t = get_type(m, "p");
    assert_int_equal(t->kind, RH_TYPE_PTR);
    assert_int_equal(t->size, 8);
    t = f->type;
    assert_int_equal(t->kind, RH_TYPE_FUNC);
    assert_int_equal(t->count, 1);
    assert_true(t->variadic);
    assert_int_equal(t->ret->bits, 1);
    assert_int_equal(t->elems[0]->bits, 8);
    rh_ir_close(m);
}

static void test_types_of_many_parts(void **state)
{
    struct rh_module *m = open_text(type_module);
    struct rh_function *f = get_function(m, "f");
    const struct rh_type *t = get_type(m, "s");

    (void)state;
    assert_int_equal(t->kind, RH_TYPE_STRUCT);
    assert_string_equal(t->name, "pair");
    assert_int_equal(t->count, 3);
    assert_int_equal(t->offsets[1], 8);
    assert_int_equal(t->offsets[2], 16);
    assert_int_equal(t->size, 24);
    assert_int_equal(t->align, 8);
    assert_int_equal(t->elems[2]->kind, RH_TYPE_ARRAY);
    assert_int_equal(t->elems[2]->count, 3);
    assert_int_equal(t->elems[2]->elems[0]->bits, 16);
    assert_ptr_equal(get_type(m, "a")->elems[0], t);
    assert_int_equal(get_type(m, "a")->size, 120);
    t = get_type(m, "k");
    assert_int_equal(t->offsets[1], 1);
    assert_int_equal(t->size, 9);
    t = get_type(m, "v");
    assert_int_equal(t->kind, RH_TYPE_VECTOR);
    assert_int_equal(t->count, 3);
    assert_int_equal(t->size, 12);
    assert_int_equal(t->alloc_size, 16);
    t = get_type(m, "o");
    assert_int_equal(t->kind, RH_TYPE_STRUCT);
    assert_int_equal(t->size, 0);
    assert_int_equal(t->align, 0);
    t = get_value(f, "scalable")->access;
    assert_int_equal(t->kind, RH_TYPE_VECTOR);
    assert_int_equal(t->align, 0);
    assert_int_equal(get_value(f, "holder")->access->align, 0);
    rh_ir_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_types_of_many_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
