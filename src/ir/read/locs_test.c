/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of debug locations: inlining chains, functions of lexical blocks, paths of files.
 */
#include "ir/testing.h"
#include "ir/testing_debug.h"

static void assert_loc(const struct rh_loc *loc, const char *file, uint32_t line, uint32_t column,
                       const char *function)
{
    assert_non_null(loc);
    assert_string_equal(loc->file, file);
    assert_int_equal(loc->line, line);
    assert_int_equal(loc->column, column);
    assert_string_equal(loc->function, function);
}

static void test_inlined_twice(void **state)
{
    struct rh_module *m = open_text(bank_module);
    struct rh_function *f = get_function(m, "transfer");
    const struct rh_loc *loc = get_nth(f, RH_OP_STORE, 1)->loc;

    (void)state;
    assert_loc(loc, "/src/include/account.h", 4, 13, "touch");
    assert_loc(loc->inlined_at, "/src/include/account.h", 10, 9, "deposit");
    assert_loc(loc->inlined_at->inlined_at, "/src/bank.c", 5, 5, "transfer");
    assert_null(loc->inlined_at->inlined_at->inlined_at);
    assert_string_equal(loc->linkage, "touch");
    rh_ir_close(m);
}

static void test_inlined_once_from_a_lexical_block(void **state)
{
    struct rh_module *m = open_text(bank_module);
    struct rh_function *f = get_function(m, "transfer");
    const struct rh_loc *compare = get_first(f, RH_OP_ICMP)->loc;

    (void)state;
    assert_loc(compare, "/src/include/account.h", 8, 11, "deposit");
    assert_loc(compare->inlined_at, "/src/bank.c", 5, 5, "transfer");
    assert_null(compare->inlined_at->inlined_at);
    assert_loc(get_first(f, RH_OP_RET)->loc, "/src/bank.c", 6, 1, "transfer");
    assert_null(get_first(f, RH_OP_RET)->loc->inlined_at);
    rh_ir_close(m);
}

static void test_equal_locations_are_one(void **state)
{
    struct rh_module *m = open_text(bank_module);
    struct rh_function *f = get_function(m, "transfer");
    const struct rh_value *load = get_first(f, RH_OP_LOAD), *store = get_first(f, RH_OP_STORE);

    (void)state;
    assert_ptr_equal(load->loc, store->loc);
    assert_ptr_not_equal(load->loc, get_nth(f, RH_OP_LOAD, 1)->loc);
    assert_ptr_equal(load->loc->inlined_at, get_first(f, RH_OP_ICMP)->loc->inlined_at);
    rh_ir_close(m);
}

static void test_function_is_where_it_is_defined(void **state)
{
    struct rh_module *m = open_text(bank_module);

    (void)state;
    assert_loc(get_function(m, "transfer")->loc, "/src/bank.c", 3, 0, "transfer");
    rh_ir_close(m);
}

static void test_mangled_names_and_absolute_files(void **state)
{
    struct rh_module *m = open_text(queue_module);
    struct rh_function *f = get_function(m, "_ZN4work5queue4pushEi");
    const struct rh_loc *loc = get_first(f, RH_OP_LOAD)->loc;

    (void)state;
    assert_loc(loc, "/elsewhere/queue.cpp", 5, 31, "size");
    assert_string_equal(loc->linkage, "_ZNK4work5queue4sizeEv");
    assert_loc(loc->inlined_at, "/elsewhere/queue.cpp", 9, 12, "push");
    assert_string_equal(loc->inlined_at->linkage, "_ZN4work5queue4pushEi");
    assert_loc(f->loc, "/elsewhere/queue.cpp", 7, 0, "push");
    rh_ir_close(m);
}

static void test_debug_records_are_no_instructions(void **state)
{
    struct rh_module *m = open_text(bank_module);
    struct rh_function *f = get_function(m, "transfer");

    (void)state;
    assert_int_equal(f->inst_count, 10);
    assert_int_equal(rh_ir_function_count(m), 1);
    rh_ir_close(m);
}

static void test_code_without_debug_information(void **state)
{
    struct rh_module *m = open_text("define void @f() {\n  ret void\n}\n");
    struct rh_function *f = get_function(m, "f");

    (void)state;
    assert_null(f->loc);
    assert_null(f->blocks[0]->first->loc);
    rh_ir_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inlined_twice),
        cmocka_unit_test(test_inlined_once_from_a_lexical_block),
        cmocka_unit_test(test_equal_locations_are_one),
        cmocka_unit_test(test_function_is_where_it_is_defined),
        cmocka_unit_test(test_mangled_names_and_absolute_files),
        cmocka_unit_test(test_debug_records_are_no_instructions),
        cmocka_unit_test(test_code_without_debug_information),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
