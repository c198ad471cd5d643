/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of where a block of memory is still unknown to others. Reads with a name ask the question
 * of the block that they read. */
#include "analysis/flow/fresh.h"

#include "ir/testing.h"

#define PRELUDE                                                                                    \
    "@shared = internal global ptr null\n"                                                         \
    "declare ptr @malloc(i64)\n"                                                                   \
    "declare ptr @realloc(ptr, i64)\n"                                                             \
    "declare void @unknown(ptr)\n"
#define READ(name, p) "  %" name " = load i32, ptr " p "\n"
#define GIVE(p)       "  store ptr " p ", ptr @shared\n"

static void check(const char *text, const char *fn, const char *fresh[], const char *known[])
{
    struct rh_module *m = open_text(text);
    struct rh_fresh *f = rh_fresh_find(m);
    for (; *fresh; fresh++) {
        struct rh_value *read = get_value(get_function(m, fn), *fresh);
        if (!rh_fresh_at(f, read, rh_ir_pointer(read)))
            fail_msg("%s is not fresh", *fresh);
    }
    for (; *known; known++) {
        struct rh_value *read = get_value(get_function(m, fn), *known);
        if (rh_fresh_at(f, read, rh_ir_pointer(read)))
            fail_msg("%s is fresh", *known);
    }
    rh_fresh_free(f);
    rh_ir_close(m);
}

#define LIST(...) ((const char *[]){__VA_ARGS__, NULL})
#define NONE      ((const char *[]){NULL})

static void test_until_it_is_stored(void **state)
{
    (void)state;
    check(PRELUDE "define i32 @main() {\n"
                  "  %p = call ptr @malloc(i64 16)\n"
                  "  %q = getelementptr i8, ptr %p, i64 8\n" READ("a", "%p") READ("b", "%q")
                      GIVE("%q") READ("c", "%p") READ("d", "%q") "  ret i32 0\n}\n",
          "main", LIST("a", "b"), LIST("c", "d"));
}

static void test_until_an_unknown_function_has_it(void **state)
{
    (void)state;
    check(PRELUDE "define i32 @main() {\n"
                  "  %p = call ptr @malloc(i64 16)\n" READ(
                      "a", "%p") "  call void @unknown(ptr "
                                 "%p)\n" READ("b", "%p") "  ret i32 0\n}\n",
          "main", LIST("a"), LIST("b"));
}

static void test_known_on_one_way_is_known_behind_it(void **state)
{
    (void)state;
    check(PRELUDE
          "define i32 @main(i1 %if) {\n"
          "  %p = call ptr @malloc(i64 16)\n"
          "  br i1 %if, label %give, label %keep\n"
          "give:\n" READ("a", "%p")
              GIVE("%p") "  br label %end\n"
                         "keep:\n" READ("b", "%p") "  br label %end\n"
                                                   "end:\n" READ("c", "%p") "  ret i32 0\n}\n",
          "main", LIST("a", "b"), LIST("c"));
}

/* The block given away in one round is not the one of the next; but one made before the loop is. */
static void test_each_round_of_a_loop(void **state)
{
    (void)state;
    check(PRELUDE "define i32 @main(i1 %if) {\n"
                  "  %old = call ptr @malloc(i64 16)\n" READ(
                      "before",
                      "%old") "  br label %round\n"
                              "round:\n"
                              "  %p = call ptr @malloc(i64 16)\n" READ("new", "%p")
                                  READ("again", "%old") GIVE("%p") READ("given", "%p")
                                      GIVE("%old") "  br i1 %if, label %round, label %end\n"
                                                   "end:\n" READ("after", "%p") "  ret i32 0\n}\n",
          "main", LIST("before", "new"), LIST("again", "given", "after"));
}

/* A long way from where it is made to where it is used, with code aside that never comes back. */
static void test_far_from_where_it_was_made(void **state)
{
    (void)state;
    check(PRELUDE "define i32 @main(i1 %if, i1 %d) {\n"
                  "  %p = call ptr @malloc(i64 16)\n"
                  "  br i1 %if, label %aside, label %on\n"
                  "aside:\n" GIVE("%p") "  ret i32 1\n"
                                        "on:\n"
                                        "  br i1 %d, label %on, label %further\n"
                                        "further:\n" READ("a", "%p") "  ret i32 0\n}\n",
          "main", LIST("a"), NONE);
}

static void test_what_functions_return(void **state)
{
    (void)state;
    check(PRELUDE "define internal ptr @make() {\n"
                  "  %p = call ptr @malloc(i64 16)\n"
                  "  ret ptr %p\n}\n"
                  "define internal ptr @make_or_find(i1 %c) {\n"
                  "  br i1 %c, label %make, label %find\n"
                  "make:\n"
                  "  %p = call ptr @malloc(i64 16)\n"
                  "  ret ptr %p\n"
                  "find:\n"
                  "  %q = load ptr, ptr @shared\n"
                  "  ret ptr %q\n}\n"
                  "define internal ptr @make_and_tell() {\n"
                  "  %p = call ptr @malloc(i64 16)\n" GIVE(
                      "%p") "  ret ptr %p\n}\n"
                            "define i32 @main(i1 %if, ptr %old) {\n"
                            "  %p = call ptr @make()\n"
                            "  %q = call ptr @make_or_find(i1 %if)\n"
                            "  %r = call ptr @make_and_tell()\n"
                            "  %s = call ptr @realloc(ptr %old, i64 32)\n" READ("a", "%p")
                                READ("b", "%q") READ("c", "%r") READ("d", "%s") "  ret i32 0\n}\n",
          "main", LIST("a"), LIST("b", "c", "d"));
}

static void test_one_of_two_blocks_is_returned(void **state)
{
    (void)state;
    check(PRELUDE "define internal ptr @either(i1 %c) {\n"
                  "  %p = call ptr @malloc(i64 16)\n"
                  "  br i1 %c, label %one, label %end\n"
                  "one:\n"
                  "  %q = call ptr @malloc(i64 32)\n"
                  "  br label %end\n"
                  "end:\n"
                  "  %r = phi ptr [ %p, %0 ], [ %q, %one ]\n"
                  "  ret ptr %r\n}\n"
                  "define internal ptr @either_known(i1 %c) {\n"
                  "  %p = call ptr @malloc(i64 16)\n"
                  "  br i1 %c, label %one, label %end\n"
                  "one:\n"
                  "  %q = call ptr @malloc(i64 32)\n" GIVE(
                      "%q") "  br label %end\n"
                            "end:\n"
                            "  %r = phi ptr [ %p, %0 ], [ %q, %one ]\n"
                            "  ret ptr %r\n}\n"
                            "define i32 @main(i1 %if) {\n"
                            "  %p = call ptr @either(i1 %if)\n"
                            "  %q = call ptr @either_known(i1 %if)\n" READ("a", "%p")
                                READ("b", "%q") "  ret i32 0\n}\n",
          "main", LIST("a"), LIST("b"));
}

/* A parameter that every caller gives a fresh block. */
static void test_parameters(void **state)
{
    (void)state;
    const char *text = PRELUDE "define internal void @fill(ptr %p) {\n" READ("a", "%p") GIVE("%p")
        READ("b", "%p") "  ret void\n}\n"
                        "define internal void @use(ptr %p) {\n" READ(
                            "c", "%p") "  ret void\n}\n"
                                       "define i32 @main() {\n"
                                       "  %p = call ptr @malloc(i64 16)\n"
                                       "  call void @fill(ptr %p)\n"
                                       "  call void @use(ptr %p)\n"
                                       "  ret i32 0\n}\n";
    check(text, "fill", LIST("a"), LIST("b"));
    check(text, "use", NONE, LIST("c"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_until_it_is_stored),
        cmocka_unit_test(test_until_an_unknown_function_has_it),
        cmocka_unit_test(test_known_on_one_way_is_known_behind_it),
        cmocka_unit_test(test_each_round_of_a_loop),
        cmocka_unit_test(test_far_from_where_it_was_made),
        cmocka_unit_test(test_what_functions_return),
        cmocka_unit_test(test_one_of_two_blocks_is_returned),
        cmocka_unit_test(test_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
