/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of loops that wait for another thread to change a variable. */
#include "analysis/flow/spin.h"

#include "ir/testing.h"

#define PRELUDE                                                                                    \
    "@flag = global i32 0\n"                                                                       \
    "@sum = global i32 0\n"                                                                        \
    "declare i32 @sched_yield()\n"                                                                 \
    "declare void @work()\n"
#define LOOP(load, body)                                                                           \
    PRELUDE "define i32 @main(ptr %list) {\n"                                                      \
            "  br label %again\n"                                                                  \
            "again:\n" load body "  %done = icmp ne i32 %v, 0\n"                                   \
            "  br i1 %done, label %out, label %again\n"                                            \
            "out:\n"                                                                               \
            "  ret i32 0\n}\n"
#define PLAIN "  %v = load i32, ptr @flag\n"

/* Does a loop wait with the load called %v? */
static bool waits(const char *text)
{
    struct rh_module *m = open_text(text);
    struct rh_accesses accesses;
    struct rh_bitset waiting = RH_BITSET_INIT;
    const struct rh_value *load = get_value(get_function(m, "main"), "v");
    bool found = false;
    rh_accesses_collect(m, NULL, &accesses);
    rh_spin_find(&accesses, &waiting);
    for (uint32_t i = 0; i < accesses.all.len; i++)
        found |= accesses.all.data[i].inst == load && rh_bitset_test(&waiting, i);
    rh_bitset_release(&waiting);
    rh_accesses_release(&accesses);
    rh_ir_close(m);
    return found;
}

static void test_loops_that_wait(void **state)
{
    (void)state;
    assert_true(waits(LOOP(PLAIN, "")));
    assert_true(waits(LOOP(PLAIN, "  call i32 @sched_yield()\n")));
    /* The optimiser took the load out of the loop. */
    assert_true(waits(PRELUDE "define i32 @main() {\n" PLAIN "  %done = icmp ne i32 %v, 0\n"
                              "  br i1 %done, label %out, label %forever\n"
                              "forever:\n"
                              "  br label %forever\n"
                              "out:\n"
                              "  ret i32 0\n}\n"));
}

static void test_loops_that_do_not(void **state)
{
    (void)state;
    assert_false(waits(LOOP(PLAIN, "  call void @work()\n")));
    assert_false(waits(LOOP(PLAIN, "  store i32 1, ptr @sum\n")));
    assert_false(waits(LOOP("  %v = load atomic i32, ptr @flag acquire, align 4\n", "")));
    /* A walk along a list is no wait: each round reads another place. */
    assert_false(waits(LOOP("  %p = phi ptr [ %list, %0 ], [ %next, %again ]\n"
                            "  %next = load ptr, ptr %p\n"
                            "  %v = load i32, ptr %next\n",
                            "")));
    /* What is read decides nothing. */
    assert_false(waits(PRELUDE "define i32 @main(i32 %n) {\n"
                               "  br label %again\n"
                               "again:\n"
                               "  %i = phi i32 [ 0, %0 ], [ %next, %again ]\n" PLAIN
                               "  %next = add i32 %i, 1\n"
                               "  %done = icmp eq i32 %next, %n\n"
                               "  br i1 %done, label %out, label %again\n"
                               "out:\n"
                               "  ret i32 %v\n}\n"));
    /* An endless loop elsewhere, which the load does not lead to. */
    assert_false(waits(PRELUDE "define i32 @main(i1 %c) {\n" PLAIN
                               "  br i1 %c, label %out, label %forever\n"
                               "forever:\n"
                               "  br label %forever\n"
                               "out:\n"
                               "  ret i32 %v\n}\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops_that_wait),
        cmocka_unit_test(test_loops_that_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
