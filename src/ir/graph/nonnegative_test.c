/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of signs: values called up... are never below zero, those called any... may be.
 */
#include "ir/graph/nonnegative.h"

#include "ir/testing.h"

static const char text[] = "define void @numbers(i64 %any_arg, i32 %n, i1 %c) {\n"
                           "  %up_zext = zext i32 %n to i64\n"
                           "  %any_sext = sext i32 %n to i64\n"
                           "  %up_mask = and i64 %any_arg, 255\n"
                           "  %any_mask = and i64 %any_arg, -8\n"
                           "  %up_shifted = lshr i64 %any_arg, 3\n"
                           "  %any_shifted = lshr i64 %any_arg, %up_mask\n"
                           "  %up_rest = urem i64 %any_arg, 13\n"
                           "  %any_rest = srem i64 %any_arg, 13\n"
                           "  %up_share = udiv i64 %any_arg, 2\n"
                           "  %any_share = udiv i64 %any_arg, 1\n"
                           "  %up_sum = add nsw i64 %up_zext, 5\n"
                           "  %up_large_sum = add nuw i64 %up_zext, %up_mask\n"
                           "  %any_sum = add i64 %up_zext, 5\n"
                           "  %any_less = add nsw i64 %up_zext, -5\n"
                           "  %any_difference = sub nsw i64 %up_zext, %up_mask\n"
                           "  %small = and i32 %n, 7\n"
                           "  %any_small_sum = add nuw i32 %small, %small\n"
                           "  %up_small_sum = add nsw i32 %small, %small\n"
                           "  %up_product = mul nsw i64 %up_zext, %up_mask\n"
                           "  %up_choice = select i1 %c, i64 4, i64 %up_mask\n"
                           "  %any_choice = select i1 %c, i64 4, i64 -1\n"
                           "  %up_both = or i64 %up_mask, %up_zext\n"
                           "  %any_both = or i64 %up_mask, %any_arg\n"
                           "  br label %loop\n"
                           "loop:\n"
                           "  %up_i = phi i64 [ 0, %0 ], [ %up_next, %loop ]\n"
                           "  %any_j = phi i64 [ 9, %0 ], [ %any_before, %loop ]\n"
                           "  %any_k = phi i64 [ %any_arg, %0 ], [ %any_more, %loop ]\n"
                           "  %up_next = add nuw nsw i64 %up_i, 1\n"
                           "  %any_before = add nsw i64 %any_j, -1\n"
                           "  %any_more = add nuw nsw i64 %any_k, 1\n"
                           "  br i1 %c, label %loop, label %end\n"
                           "end:\n"
                           "  ret void\n"
                           "}\n";

static void signs_follow_from_operations(void **state)
{
    (void)state;
    struct rh_module *m = open_text(text);
    struct rh_function *f = get_function(m, "numbers");
    unsigned up = 0, any = 0;
    for (uint32_t b = 0; b < f->block_count; b++) {
        for (struct rh_value *v = f->blocks[b]->first; v; v = v->next) {
            bool is_up = strncmp(v->name, "up_", 3) == 0, is_any = strncmp(v->name, "any_", 4) == 0;
            if ((is_up || is_any) && rh_nonnegative_holds(v) != is_up)
                fail_msg("%s", v->name);
            up += is_up;
            any += is_any;
        }
    }
    assert_false(rh_nonnegative_holds(get_value(f, "any_arg")));
    assert_int_equal(up, 13);
    assert_int_equal(any, 15);
    rh_ir_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_follow_from_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
