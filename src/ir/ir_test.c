/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the question where a pointer comes from. Escapes have a test of their own.
 */
#include "ir/ir.h"

#include <stdbool.h>

#include "ir/testing.h"

static void test_base(void **state)
{
    static const char text[] =
        "@data = global [8 x i32] zeroinitializer\n"
        "@tls = thread_local global i32 0\n"
        "@alias = alias i32, getelementptr (i8, ptr @data, i64 8)\n"
        "@chosen = ifunc void (), ptr @f\n"
        "declare ptr @llvm.threadlocal.address.p0(ptr)\n"
        "define ptr @f(ptr %p, i64 %i) {\n"
        "  %a = getelementptr {i32, [4 x i32]}, ptr %p, i64 1, i32 1, i64 2\n"
        "  %b = addrspacecast ptr %a to ptr addrspace(1)\n"
        "  %c = addrspacecast ptr addrspace(1) %b to ptr\n"
        "  %d = getelementptr i8, ptr %c, i64 -2\n"
        "  %e = getelementptr i16, ptr %d, i64 %i\n"
        "  %t = call ptr @llvm.threadlocal.address.p0(ptr @tls)\n"
        "  %x = load i32, ptr getelementptr (i8, ptr @alias, i64 4)\n"
        "  %y = load i32, ptr @chosen\n"
        "  ret ptr %e\n"
        "dead:\n"
        "  %self = getelementptr i8, ptr %self, i64 1\n"
        "  br label %dead\n"
        "}\n";
    struct rh_module *m = open_text(text);
    struct rh_function *f = get_function(m, "f");
    int64_t offset = 1;
    bool exact = false;

    (void)state;
    assert_ptr_equal(rh_ir_base(get_value(f, "d"), &offset, &exact), f->args[0]);
    assert_int_equal(offset, 20 + 4 + 8 - 2);
    assert_true(exact);
    assert_ptr_equal(rh_ir_base(get_value(f, "e"), &offset, &exact), f->args[0]);
    assert_int_equal(offset, 20 + 4 + 8 - 2);
    assert_false(exact);
    assert_ptr_equal(rh_ir_base(f->args[0], &offset, &exact), f->args[0]);
    assert_int_equal(offset, 0);
    assert_true(exact);
    assert_ptr_equal(rh_ir_base(get_value(f, "t"), NULL, NULL), rh_ir_find_global(m, "tls"));
    assert_ptr_equal(rh_ir_base(rh_ir_pointer(get_value(f, "x")), &offset, &exact),
                     rh_ir_find_global(m, "data"));
    assert_int_equal(offset, 12);
    assert_true(exact);
    assert_int_equal(rh_ir_base(rh_ir_pointer(get_value(f, "y")), NULL, NULL)->kind,
                     RH_VALUE_ALIAS);
    assert_non_null(rh_ir_base(get_value(f, "self"), NULL, NULL));
    rh_ir_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
