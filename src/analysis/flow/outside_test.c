/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of threads that code without bitcode starts, and of OpenMP's teams. */
#include "analysis/flow/testing.h"

#define END       "  ret i32 0\n}\n"
#define CALLED    "define void @called(ptr %p) {\n" READ("x", "@x") "  ret void\n}\n"
#define HAND_OVER "  call void @tell_unknown(ptr @called)\n"
#define FORK      "declare void @__kmpc_fork_call(ptr, i32, ptr, ...)\n"
#define REGION(fn)                                                                                 \
    "  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 0, ptr " fn ")\n"
#define OUTLINED(name) "define void @" name "(ptr %g, ptr %b) {\n"

static struct flow_case open_outside(const char *text, bool starts)
{
    struct flow_case c = open_case(text);
    rh_flow_free(c.f);
    c.f = rh_flow_run(c.m, c.p, &(struct rh_flow_options){.outside_starts = starts});
    return c;
}

static const char handed_over[] =
    CALLED "define i32 @main() {\n" READ("before", "@x") HAND_OVER READ("after", "@x") END;

static void a_function_given_away_runs_beside_what_follows(void **state)
{
    (void)state;
    struct flow_case c = open_outside(handed_over, true);
    assert_int_equal(judge(&c, "main:before", "called:x"), SERIAL);
    assert_int_equal(judge(&c, "main:after", "called:x"), RACY);
    assert_int_equal(judge(&c, "called:x", "called:x"), RACY);
    close_case(&c);
}

static void without_a_starter_it_runs_in_the_calling_thread(void **state)
{
    (void)state;
    struct flow_case c = open_outside(handed_over, false);
    assert_int_equal(judge(&c, "main:after", "called:x"), SERIAL);
    assert_int_equal(judge(&c, "called:x", "called:x"), SERIAL);
    assert_int_equal(rh_flow_thread_count(c.f), 1);
    close_case(&c);
}

/* Whoever has a function may call it at any later call; a helper that calls the outside is enough.
 */
static void threads_are_started_in_helpers_too(void **state)
{
    (void)state;
    struct flow_case c =
        open_outside(CALLED "define void @helper() {\n" HAND_OVER "  ret void\n}\n"
                            "define i32 @main() {\n" READ(
                                "before", "@x") "  call void @helper()\n" READ("after", "@x") END,
                     true);
    assert_int_equal(judge(&c, "main:before", "called:x"), SERIAL);
    assert_int_equal(judge(&c, "main:after", "called:x"), RACY);
    close_case(&c);
}

/* Threads of the outside overlap with those that the program starts. */
static void threads_of_both_kinds_overlap(void **state)
{
    (void)state;
    struct flow_case c = open_outside(CALLED "define ptr @w(ptr %p) {\n" READ("x", "@x") RETURN
                                      "define i32 @main() {\n  %t = alloca i64\n" START("%t", "@w")
                                          HAND_OVER JOIN("h", "%t") READ("end", "@x") END,
                                      true);
    assert_int_equal(judge(&c, "w:x", "called:x"), RACY);
    assert_int_equal(judge(&c, "w:x", "w:x"), SERIAL);
    assert_int_equal(judge(&c, "main:end", "w:x"), SERIAL);
    assert_int_equal(judge(&c, "main:end", "called:x"), RACY);
    close_case(&c);
}

static void a_team_is_many_threads_until_the_region_ends(void **state)
{
    (void)state;
    check_case(FORK OUTLINED("region") READ("x", "@x") "  ret void\n}\n" OUTLINED("second")
                   READ("x", "@x") "  ret void\n}\n"
                                   "define i32 @main() {\n" READ("before", "@x") REGION("@region")
                                       READ("between", "@x") REGION("@second") READ("after", "@x")
                                           END,
               {"region:x", "region:x", RACY}, {"main:before", "region:x", SERIAL},
               {"main:between", "region:x", SERIAL}, {"region:x", "second:x", SERIAL},
               {"main:after", "second:x", SERIAL});
}

/* What a team leaves behind runs on. */
static void a_team_may_start_threads_that_outlive_it(void **state)
{
    (void)state;
    check_case(FORK "define ptr @w(ptr %p) {\n" READ("x", "@x")
                   RETURN OUTLINED("region") "  %t = alloca i64\n" START(
                       "%t", "@w") "  ret void\n}\n"
                                   "define i32 @main() {\n" REGION("@region") READ("after", "@x")
                                       END,
               {"main:after", "w:x", RACY}, {"w:x", "w:x", RACY});
}

static void critical_sections_guard(void **state)
{
    (void)state;
    check_case(FORK
               "declare void @__kmpc_critical(ptr, i32, ptr)\n"
               "declare void @__kmpc_end_critical(ptr, i32, ptr)\n" OUTLINED(
                   "region") "  call void "
                             "@__kmpc_critical("
                             "ptr null, i32 0, "
                             "ptr @m)\n" READ(
                                 "in", "@x") "  call "
                                             "void "
                                             "@__kmpc_"
                                             "end_"
                                             "critical"
                                             "(ptr "
                                             "null, "
                                             "i32 0, "
                                             "ptr "
                                             "@m)"
                                             "\n" READ("out", "@x") "  ret void\n}\n"
                                                                    "define i32 @main() {\n" REGION(
                                                                        "@region") END,
               {"region:in", "region:in", GUARDED}, {"region:in", "region:out", RACY});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_given_away_runs_beside_what_follows),
        cmocka_unit_test(without_a_starter_it_runs_in_the_calling_thread),
        cmocka_unit_test(threads_are_started_in_helpers_too),
        cmocka_unit_test(threads_of_both_kinds_overlap),
        cmocka_unit_test(a_team_is_many_threads_until_the_region_ends),
        cmocka_unit_test(a_team_may_start_threads_that_outlive_it),
        cmocka_unit_test(critical_sections_guard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
