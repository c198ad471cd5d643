/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the snapshot as a whole: users, globals and functions.
 */
#include "ir/ir.h"

#include <stdbool.h>

#include "ir/testing.h"

static void test_users(void **state)
{
    static const char text[] = "@direct = global ptr @f\n"
                               "@nested = global [1 x ptr] [ptr @f]\n"
                               "@alias = alias i32 (i32), ptr @f\n"
                               "define i32 @f(i32 %n) {\n"
                               "  %twice = add i32 %n, %n\n"
                               "  %r = call i32 @f(i32 %twice) [\"deopt\"(i32 %n)]\n"
                               "  ret i32 %r\n"
                               "}\n";
    struct rh_module *m = open_text(text);
    struct rh_function *f = get_function(m, "f");
    struct rh_value *n = f->args[0], *twice = get_value(f, "twice"), *r = get_value(f, "r");
    enum rh_value_kind kinds[] = {RH_VALUE_GLOBAL, RH_VALUE_ALIAS, RH_VALUE_INST,
                                  RH_VALUE_AGGREGATE};

    (void)state;
    assert_int_equal(n->user_count, 3);
    assert_ptr_equal(n->users[0], twice);
    assert_ptr_equal(n->users[1], twice);
    assert_ptr_equal(n->users[2], r);
    assert_int_equal(twice->user_count, 1);
    assert_ptr_equal(twice->users[0], r);
    assert_int_equal(f->value->user_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(f->value->users[i]->kind, kinds[i]);
    rh_ir_close(m);
}

static const char symbol_module[] = "source_filename = \"symbols.c\"\n"
                                    "target triple = \"x86_64-pc-linux-gnu\"\n"
                                    "module asm \".globl made_by_hand\"\n"
                                    "@shared = global i32 1, section \"here\", align 8\n"
                                    "@own = internal constant i32 2\n"
                                    "@mine = thread_local global i32 3\n"
                                    "@elsewhere = external global i32\n"
                                    "@copied = available_externally constant i32 4\n"
                                    "@chosen = ifunc void (), ptr @resolver\n"
                                    "@0 = private global i32 5\n"
                                    "declare void @declared(i32)\n"
                                    "define internal void @hidden() naked {\n"
                                    "  unreachable\n"
                                    "}\n"
                                    "define ptr @resolver() {\n"
                                    "  ret ptr @hidden\n"
                                    "}\n"
                                    "define available_externally void @inlined(i32 %n) {\n"
                                    "  ret void\n"
                                    "}\n"
                                    "define void @\"\\01renamed\"() {\n"
                                    "  ret void\n"
                                    "}\n"
                                    "define void @ignored1() disable_sanitizer_instrumentation {\n"
                                    "  ret void\n"
                                    "}\n"
                                    "define void @ignored2() \"racehive-ignore\" {\n"
                                    "  ret void\n"
                                    "}\n"
                                    "define void @ignored3() section \".text.rh_ignore\" {\n"
                                    "  ret void\n"
                                    "}\n";

static void test_globals_and_texts(void **state)
{
    struct rh_module *m = open_text(symbol_module);
    const struct rh_value *v = rh_ir_find_global(m, "shared");

    (void)state;
    assert_string_equal(rh_ir_inline_asm(m), ".globl made_by_hand\n");
    assert_int_equal(rh_ir_global_count(m), 6);
    assert_string_equal(v->global->section, "here");
    assert_int_equal(v->align, 8);
    assert_false(v->global->is_local || v->global->is_const || v->global->is_thread_local ||
                 v->global->is_declaration);
    v = rh_ir_find_global(m, "own");
    assert_true(v->global->is_local && v->global->is_const);
    assert_string_equal(v->global->section, "");
    assert_true(rh_ir_find_global(m, "mine")->global->is_thread_local);
    assert_true(rh_ir_find_global(m, "elsewhere")->global->is_declaration);
    v = rh_ir_find_global(m, "copied");
    assert_true(v->global->is_declaration);
    assert_int_equal(v->global->init->num, 4);
    assert_null(rh_ir_find_global(m, "hidden"));
    assert_null(rh_ir_find_global(m, "absent"));
    assert_string_equal(rh_ir_global(m, 5)->name, "");
    rh_ir_close(m);
}

static void test_functions(void **state)
{
    struct rh_module *m = open_text(symbol_module);
    const struct rh_function *f = get_function(m, "hidden");
    const struct rh_value *v = get_function(m, "resolver")->value->users[0];

    (void)state;
    assert_true(f->is_local && f->is_naked && !f->no_instrument);
    f = get_function(m, "declared");
    assert_int_equal(f->block_count, 0);
    assert_int_equal(f->arg_count, 1);
    assert_false(f->is_local || f->is_naked);
    f = get_function(m, "inlined");
    assert_int_equal(f->block_count, 0);
    assert_int_equal(get_function(m, "renamed")->block_count, 1);
    assert_true(get_function(m, "ignored1")->no_instrument);
    assert_true(get_function(m, "ignored2")->no_instrument);
    assert_true(get_function(m, "ignored3")->no_instrument);
    assert_false(get_function(m, "renamed")->no_instrument);
    assert_null(rh_ir_find_function(m, "shared"));
    assert_true(v->kind == RH_VALUE_ALIAS && v->is_ifunc);
    rh_ir_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_users),
        cmocka_unit_test(test_globals_and_texts),
        cmocka_unit_test(test_functions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
