/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which locks guard which accesses: names that must be equal, distances from the accessed
 * memory, arrays, and memory that does not change. */
#include "analysis/flow/internal.h"
#include "analysis/flow/testing.h"

#include <stdio.h>

/* A struct with a lock, two values, an array, and a pointer to a lock. */
#define TYPES                                                                                      \
    "%item = type { %lock, i32, i32, [8 x i32], ptr, [8 x %lock] }\n"                              \
    "@item = internal global ptr null\n"
#define FIELD(name, p, number)                                                                     \
    "  %" name " = getelementptr %item, ptr " p ", i64 0, i32 " number "\n"
#define ELEMENT(name, p, number, index)                                                            \
    "  %" name " = getelementptr %item, ptr " p ", i64 0, i32 " number ", i64 " index "\n"

/* Main makes items in a loop, keeps the last in @item, and starts two workers. */
#define ITEMS(before, after)                                                                       \
    "define i32 @main() {\n"                                                                       \
    "  %t = alloca i64\n"                                                                          \
    "  %u = alloca i64\n"                                                                          \
    "  br label %more\n"                                                                           \
    "more:\n"                                                                                      \
    "  %i = phi i32 [ 0, %0 ], [ %next, %more ]\n"                                                 \
    "  %p = call ptr @malloc(i64 408)\n"                                                           \
    "  store ptr %p, ptr @item\n" before "  %next = add i32 %i, 1\n"                               \
    "  %c = icmp eq i32 %next, 9\n"                                                                \
    "  br i1 %c, label %go, label %more\n"                                                         \
    "go:\n" START("%t", "@w") START("%u", "@w") after "  ret i32 0\n}\n"

static void test_lock_in_the_object(void **state)
{
    (void)state;
    check_case(
        TYPES
        "define void @use(ptr %p) noinline {\n" FIELD("f", "%p", "1") LOCK("%p") READ("a", "%f")
            UNLOCK("%p") "  ret void\n}\n"
                         "define ptr @w(ptr %x) {\n"
                         "  %p = load volatile ptr, ptr @item\n" FIELD("f", "%p", "1") FIELD(
                             "g", "%p", "2") LOCK("%p") READ("a", "%f") READ("b", "%g") UNLOCK("%p")
                             READ("c", "%f") "  %q = load volatile ptr, ptr @item\n" LOCK("%q")
                                 READ("d", "%f")
                                     UNLOCK("%q") "  call void @use(ptr %p)\n" RETURN ITEMS("", ""),
        {"w:a", "w:a", GUARDED}, {"w:b", "w:b", GUARDED}, {"w:c", "w:a", RACY},
        {"w:d", "w:a", RACY}, {"use:a", "w:a", GUARDED});
}

/* The lock is at another distance, or held from where another element lies. */
static void test_lock_at_another_distance(void **state)
{
    (void)state;
    check_case(TYPES "define ptr @w(ptr %x) {\n"
                     "  %p = load volatile ptr, ptr @item\n" FIELD("f", "%p", "1")
                         ELEMENT("l", "%p", "5", "1") ELEMENT("k", "%p", "5", "2") LOCK("%l")
                             READ("one", "%f") UNLOCK("%l") LOCK("%k") READ("two", "%f")
                                 UNLOCK("%k") RETURN ITEMS("", ""),
               {"w:one", "w:one", GUARDED}, {"w:two", "w:two", GUARDED}, {"w:one", "w:two", RACY});
}

static void test_array_in_the_object(void **state)
{
    (void)state;
    check_case(TYPES "define ptr @w(ptr %x) {\n"
                     "  %p = load volatile ptr, ptr @item\n"
                     "  %i = load volatile i64, ptr @y\n"
                     "  %j = load volatile i64, ptr @y\n" ELEMENT("e", "%p", "3", "%i")
                         ELEMENT("l", "%p", "5", "%i") ELEMENT("o", "%p", "3", "%j") LOCK("%p")
                             READ("by_one", "%e") UNLOCK("%p") LOCK("%l") READ("by_index", "%e")
                                 READ("other_index", "%o") UNLOCK("%l") RETURN ITEMS("", ""),
               {"w:by_one", "w:by_one", GUARDED}, {"w:by_index", "w:by_index", GUARDED},
               {"w:other_index", "w:by_index", RACY}, {"w:by_one", "w:by_index", RACY});
}

static void test_global_arrays(void **state)
{
    (void)state;
    check_case(
        "@locks = internal global [16 x %lock] zeroinitializer\n"
        "@data = internal global [16 x i32] zeroinitializer\n"
        "%pair = type { %lock, i64 }\n"
        "@pairs = internal global [16 x %pair] zeroinitializer\n"
        "define void @with(ptr %p) noinline {\n"
        "  %f = getelementptr %pair, ptr %p, i64 0, i32 1\n" LOCK("%p") READ("a", "%f") UNLOCK(
            "%p") "  ret void\n}\n"
                  "define ptr @w(ptr %x) {\n"
                  "  %k = load volatile i32, ptr @y\n"
                  "  %i = sext i32 %k to i64\n"
                  "  %again = sext i32 %k to i64\n"
                  "  %up = add i64 %i, 1\n"
                  "  %l = getelementptr [16 x %lock], ptr @locks, i64 0, i64 %i\n"
                  "  %d = getelementptr [16 x i32], ptr @data, i64 0, i64 %again\n"
                  "  %e = getelementptr [16 x i32], ptr @data, i64 0, i64 %up\n"
                  "  %two = getelementptr i8, ptr %d, i64 2\n" LOCK("%l") READ("same", "%d")
                      READ("next", "%e") READ("across", "%two") UNLOCK(
                          "%l") "  %p = getelementptr [16 x %pair], ptr @pairs, i64 0, i64 %i\n"
                                "  %f = getelementptr [16 x %pair], ptr @pairs, i64 0, i64 %i, i32 "
                                "1\n" LOCK("%p") READ("pair", "%f")
                                    UNLOCK("%p") "  call void @with(ptr %p)\n" RETURN TWO_WORKERS,
        {"w:same", "w:same", GUARDED}, {"w:next", "w:same", RACY}, {"w:across", "w:same", RACY},
        {"w:pair", "w:pair", GUARDED}, {"with:a", "with:a", GUARDED},
        {"with:a", "w:pair", GUARDED});
}

/* A struct on the stack of main, given to the threads by pointer: there is only one. */
static void test_struct_of_main(void **state)
{
    (void)state;
    check_case(TYPES "define ptr @w(ptr %p) {\n" FIELD("f", "%p", "1") LOCK("%p") READ("a", "%f")
                   READ("global", "@x") UNLOCK("%p") RETURN
               "define i32 @main() {\n"
               "  %t = alloca i64\n  %u = alloca i64\n"
               "  %s = alloca %item\n"
               "  call i32 @pthread_create(ptr %t, ptr null, ptr @w, ptr %s)\n"
               "  call i32 @pthread_create(ptr %u, ptr null, ptr @w, ptr %s)\n" FIELD(
                   "f", "%s", "1") LOCK("%s") READ("a", "%f") READ("global", "@x") UNLOCK("%s")
                   READ("b", "%f") "  ret i32 0\n}\n",
               {"w:a", "w:a", GUARDED}, {"main:a", "w:a", GUARDED},
               {"main:global", "w:global", GUARDED}, {"main:b", "w:a", RACY});
}

/* The same, where each thread gets a struct of its own, is no lock for anything else. */
static void test_struct_of_each(void **state)
{
    (void)state;
    check_case(TYPES "define ptr @w(ptr %p) {\n" FIELD("f", "%p", "1") LOCK("%p") READ("a", "%f")
                   READ("global", "@x") UNLOCK("%p") RETURN
               "define i32 @main() {\n"
               "  %t = alloca i64\n  %u = alloca i64\n"
               "  br label %more\n"
               "more:\n"
               "  %s = call ptr @malloc(i64 408)\n"
               "  call i32 @pthread_create(ptr %t, ptr null, ptr @w, ptr %s)\n"
               "  br label %more\n}\n",
               {"w:a", "w:a", GUARDED}, {"w:global", "w:global", RACY});
}

/* A lock reached through a global that is set before there are threads, and through one that is set
 * again later. */
static void test_stable_global(void **state)
{
    static const char text[] = TYPES
        "define ptr @w(ptr %x) {\n"
        "  %p = load ptr, ptr @item\n" LOCK("%p") "  %q = load ptr, ptr @item\n" FIELD(
            "f", "%q", "1") READ("a", "%f")
            READ("global", "@x") "  %r = load ptr, ptr @item\n" UNLOCK("%r") READ("b", "%f") RETURN;
    static const char *const mains[] = {
        ITEMS("", ""),
        ITEMS("", "  store ptr %p, ptr @item\n"),
    };
    (void)state;
    for (int i = 0; i < 2; i++) {
        char all[4096];
        snprintf(all, sizeof all, "%s%s", text, mains[i]);
        enum fate fate = i == 0 ? GUARDED : RACY;
        check_case(all, {"w:a", "w:a", fate}, {"w:global", "w:global", fate}, {"w:b", "w:a", RACY});
    }
}

/* What main read before the first thread is not what is there later. */
static void test_lock_from_before(void **state)
{
    (void)state;
    check_case(
        TYPES "define ptr @w(ptr %x) {\n"
              "  %p = load ptr, ptr @item\n" LOCK("%p") READ("a", "@x") UNLOCK("%p") RETURN
        "define void @start() {\n"
        "  %t = alloca i64\n" START(
            "%t", "@w") "  ret void\n}\n"
                        "define i32 @main() {\n"
                        "  br label %more\n"
                        "more:\n"
                        "  %i = phi i32 [ 0, %0 ], [ %next, %more ]\n"
                        "  %p = call ptr @malloc(i64 408)\n"
                        "  store ptr %p, ptr @item\n"
                        "  %next = add i32 %i, 1\n"
                        "  %c = icmp eq i32 %next, 9\n"
                        "  br i1 %c, label %go, label %more\n"
                        "go:\n"
                        "  %old = load ptr, ptr @item\n" LOCK(
                            "%old") "  %new = call ptr @malloc(i64 408)\n"
                                    "  store ptr %new, ptr @item\n"
                                    "  call void @start()\n" READ(
                                        "a", "@x") "  %now = load ptr, ptr @item\n" LOCK("%now")
                                        READ("b", "@x") "  ret i32 0\n}\n",
        {"main:a", "w:a", RACY}, {"main:b", "w:a", GUARDED});
}

/* A pointer to the lock in the object: written while the object is new, or at any time. */
static void test_pointer_to_the_lock(void **state)
{
    static const char text[] = TYPES
        "define ptr @w(ptr %x) {\n"
        "  %p = load volatile ptr, ptr @item\n" FIELD("f", "%p", "1") FIELD(
            "k", "%p", "4") "  %l = load ptr, ptr %k\n" LOCK("%l")
            READ("a", "%f") "  %again = load ptr, ptr %k\n" UNLOCK(
                "%again") "  %new = call ptr @malloc(i64 408)\n" FIELD("n", "%new",
                                                                       "4") "  %own = call ptr "
                                                                            "@malloc(i64 40)\n"
                                                                            "  store ptr %own, ptr "
                                                                            "%n\n"
                                                                            "  store volatile ptr "
                                                                            "%new, ptr @item\n";
    static const char *const ends[] = {
        RETURN,
        "  store ptr @m, ptr %n\n" RETURN,
    };
    (void)state;
    for (int i = 0; i < 2; i++) {
        char all[4096];
        snprintf(all, sizeof all, "%s%s%s", text, ends[i], ITEMS("", ""));
        check_case(all, {"w:a", "w:a", i == 0 ? GUARDED : RACY});
    }
}

static void test_is_stable(void **state)
{
    struct flow_case c = open_case(
        TYPES "@late = internal global ptr null\n"
              "@extern = external global ptr\n"
              "define ptr @w(ptr %x) {\n"
              "  %a = load ptr, ptr @item\n"
              "  %b = load ptr, ptr @late\n"
              "  %c = load ptr, ptr @extern\n" RETURN ITEMS("", "  store ptr %p, ptr @late\n"));
    static const struct {
        const char *name;
        bool stable;
    } rows[] = {{"a", true}, {"b", false}, {"c", false}};
    const struct rh_function *w = get_function(c.m, "w");
    uint32_t count;
    const uint32_t *in = rh_pointsto_instances_of(c.p, w, &count);
    (void)state;
    assert_true(count > 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(flow_is_stable(c.f, in[0], get_value(w, rows[i].name)), rows[i].stable);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock_in_the_object),  cmocka_unit_test(test_lock_at_another_distance),
        cmocka_unit_test(test_array_in_the_object), cmocka_unit_test(test_global_arrays),
        cmocka_unit_test(test_struct_of_main),      cmocka_unit_test(test_struct_of_each),
        cmocka_unit_test(test_stable_global),       cmocka_unit_test(test_lock_from_before),
        cmocka_unit_test(test_pointer_to_the_lock), cmocka_unit_test(test_is_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
