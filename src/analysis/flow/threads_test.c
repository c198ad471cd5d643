/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which threads may run at the same time: starts, joins, loops, siblings, handlers. */
#include "analysis/flow/internal.h"
#include "analysis/flow/testing.h"

#include <stdio.h>

#define MAIN "define i32 @main() {\n  %t = alloca i64\n  %u = alloca i64\n"
#define END  "  ret i32 0\n}\n"
/* A thread that reads x and y. */
#define WORKER(name) "define ptr @" name "(ptr %p) {\n" READ("x", "@x") READ("y", "@y") RETURN

static void test_before_and_after_a_start(void **state)
{
    (void)state;
    check_case(WORKER("w") MAIN READ("before", "@x") START("%t", "@w") READ("after", "@x") END,
               {"main:before", "w:x", SERIAL}, {"main:after", "w:x", RACY}, {"w:x", "w:y", SERIAL});
}

static void test_joins(void **state)
{
    (void)state;
    check_case(WORKER("w") WORKER("v") MAIN START("%t", "@w") READ("a", "@x") START("%u", "@v")
                   JOIN("h", "%t") READ("b", "@x") JOIN("k", "%u") READ("c", "@x") END,
               {"main:a", "w:x", RACY}, {"main:a", "v:x", SERIAL}, {"main:b", "w:x", SERIAL},
               {"main:b", "v:x", RACY}, {"main:c", "v:x", SERIAL}, {"w:x", "v:x", RACY});
}

/* The thread that is joined is not the one in question. */
static void test_join_of_another(void **state)
{
    (void)state;
    check_case(WORKER("w") "@h = internal global i64 0\n"
                           "define i32 @main(i32 %n, ptr %v) {\n"
                           "  %t = alloca i64\n  %u = alloca i64\n" START("%t", "@w")
                               START("%t", "@w") JOIN("a", "%t") READ("one_left", "@x")
                                   START("@h", "@w") "  %odd = load i64, ptr %t\n"
                                                     "  store i64 %odd, ptr @h\n" JOIN("b", "@h")
                                                         READ("mixed_up", "@x") END,
               {"main:one_left", "w:x", RACY}, {"main:mixed_up", "w:x", RACY});
}

static void test_missing_join(void **state)
{
    (void)state;
    check_case(WORKER("w") "define i32 @main(i32 %n, ptr %v) {\n"
                           "  %t = alloca i64\n" START(
                               "%t", "@w") "  %c = icmp eq i32 %n, 1\n"
                                           "  br i1 %c, label %wait, label %go\n"
                                           "wait:\n" JOIN("h", "%t")
                                               READ("joined", "@x") "  br label %go\n"
                                                                    "go:\n" READ("maybe", "@x") END,
               {"main:joined", "w:x", SERIAL}, {"main:maybe", "w:x", RACY});
}

/* Leaving a joining loop early, or into exit. */
static void test_join_on_error_path(void **state)
{
    (void)state;
    check_case(WORKER("w") "define i32 @main(i32 %n, ptr %v) {\n"
                           "  %t = alloca [8 x i64]\n"
                           "  br label %loop\n"
                           "loop:\n"
                           "  %i = phi i64 [ 0, %0 ], [ %j, %next ]\n"
                           "  %e = getelementptr i64, ptr %t, i64 %i\n"
                           "  %r = call i32 @pthread_create(ptr %e, ptr null, ptr @w, ptr null)\n"
                           "  %c = icmp eq i32 %r, 0\n"
                           "  br i1 %c, label %next, label %bad\n"
                           "bad:\n" READ("failed",
                                         "@x") "  call void @exit(i32 1)\n  unreachable\n"
                                               "next:\n"
                                               "  %j = add i64 %i, 1\n"
                                               "  %d = icmp eq i64 %j, 8\n"
                                               "  br i1 %d, label %join, label %loop\n"
                                               "join:\n"
                                               "  %k = phi i64 [ 0, %next ], [ %l, %ok ]\n"
                                               "  %f = getelementptr i64, ptr %t, i64 %k\n"
                                               "  %h = load i64, ptr %f\n"
                                               "  %s = call i32 @pthread_join(i64 %h, ptr null)\n"
                                               "  %g = icmp eq i32 %s, 0\n"
                                               "  br i1 %g, label %ok, label %stuck\n"
                                               "ok:\n"
                                               "  %l = add i64 %k, 1\n"
                                               "  %o = icmp eq i64 %l, 8\n"
                                               "  br i1 %o, label %out, label %join\n"
                                               "stuck:\n" READ("early", "@x") "  ret i32 1\n"
                                                                              "out:\n" READ(
                                                                                  "done", "@x") END,
               {"main:failed", "w:x", RACY}, {"main:early", "w:x", RACY},
               {"main:done", "w:x", SERIAL}, {"w:x", "w:x", RACY});
}

/* Starts and joins of as many threads as a variable says, each loop with its own test before it. */
#define LOOPS(first, bound)                                                                        \
    "  %c = icmp sgt i32 %n, 0\n"                                                                  \
    "  br i1 %c, label %start, label %started\n"                                                   \
    "start:\n"                                                                                     \
    "  %i = phi i64 [ 0, %0 ], [ %j, %start ]\n"                                                   \
    "  %e = getelementptr i64, ptr %t, i64 %i\n"                                                   \
    "  call i32 @pthread_create(ptr %e, ptr null, ptr @w, ptr null)\n"                             \
    "  %j = add i64 %i, 1\n"                                                                       \
    "  %wide = sext i32 %n to i64\n"                                                               \
    "  %d = icmp eq i64 %j, %wide\n"                                                               \
    "  br i1 %d, label %started, label %start\n"                                                   \
    "started:\n"                                                                                   \
    "  %between = load i32, ptr @x\n"                                                              \
    "  br i1 %c, label %join, label %end\n"                                                        \
    "join:\n"                                                                                      \
    "  %k = phi i64 [ " first ", %started ], [ %l, %join ]\n"                                      \
    "  %f = getelementptr i64, ptr %t, i64 %k\n"                                                   \
    "  %h = load i64, ptr %f\n"                                                                    \
    "  call i32 @pthread_join(i64 %h, ptr null)\n"                                                 \
    "  %l = add i64 %k, 1\n"                                                                       \
    "  %last = zext i32 " bound " to i64\n"                                                        \
    "  %o = icmp eq i64 %l, %last\n"                                                               \
    "  br i1 %o, label %end, label %join\n"                                                        \
    "end:\n"                                                                                       \
    "  %done = load i32, ptr @x\n"

static void test_loops(void **state)
{
    (void)state;
    static const char head[] = WORKER("w") "define i32 @main(i32 %n, ptr %v) {\n"
                                           "  %t = alloca [64 x i64]\n";
    static const struct {
        const char *body;
        enum fate fate;
    } rows[] = {
        {LOOPS("0", "%n") END, SERIAL},
        {LOOPS("1", "%n") END, RACY},
        {"  %less = sub i32 %n, 1\n" LOOPS("0", "%less") END, RACY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[4096];
        snprintf(text, sizeof text, "%s%s", head, rows[i].body);
        check_case(text, {"main:between", "w:x", RACY}, {"main:done", "w:x", rows[i].fate},
                   {"w:x", "w:x", RACY});
    }
}

/* The second round of starts meets threads of the first that are still there. */
static void test_rounds(void **state)
{
    (void)state;
    check_case(
        WORKER("w") "define void @start(ptr %t, i32 %n) {\n"
                    "  br label %loop\n"
                    "loop:\n"
                    "  %i = phi i64 [ 0, %0 ], [ %j, %loop ]\n"
                    "  %e = getelementptr i64, ptr %t, i64 %i\n" START(
                        "%e", "@w") "  %j = add i64 %i, 1\n"
                                    "  %d = icmp eq i64 %j, 8\n"
                                    "  br i1 %d, label %done, label %loop\n"
                                    "done:\n  ret void\n}\n"
                                    "define void @join(ptr %t) {\n"
                                    "  br label %loop\n"
                                    "loop:\n"
                                    "  %i = phi i64 [ 0, %0 ], [ %j, %loop ]\n"
                                    "  %e = getelementptr i64, ptr %t, i64 %i\n" JOIN(
                                        "h", "%e") "  %j = add i64 %i, 1\n"
                                                   "  %d = icmp eq i64 %j, 8\n"
                                                   "  br i1 %d, label %done, label %loop\n"
                                                   "done:\n  ret void\n}\n"
                                                   "define i32 @main() {\n"
                                                   "  %t = alloca [8 x i64]\n"
                                                   "  %u = alloca [8 x i64]\n"
                                                   "  call void @start(ptr %t, i32 8)\n"
                                                   "  call void @join(ptr %t)\n" READ(
                                                       "first",
                                                       "@x") "  call void @start(ptr %t, i32 8)\n"
                                                             "  call void @start(ptr %u, i32 8)\n"
                                                             "  call void @join(ptr %t)\n" READ(
                                                                 "second", "@x") END,
        {"main:first", "w:x", SERIAL}, {"main:second", "w:x", RACY});
}

static void test_start_and_join_in_one_loop(void **state)
{
    (void)state;
    check_case(WORKER("w") "define i32 @main(i32 %n, ptr %v) {\n"
                           "  %t = alloca i64\n"
                           "  br label %loop\n"
                           "loop:\n"
                           "  %i = phi i32 [ 0, %0 ], [ %j, %loop ]\n" START("%t", "@w")
                               READ("during", "@x") JOIN("h", "%t")
                                   READ("after", "@x") "  %j = add i32 %i, 1\n"
                                                       "  %d = icmp eq i32 %j, %n\n"
                                                       "  br i1 %d, label %done, label %loop\n"
                                                       "done:\n" END,
               {"main:during", "w:x", RACY}, {"main:after", "w:x", SERIAL}, {"w:x", "w:x", SERIAL});
}

/* Started and joined under one condition, and under different ones. */
static void test_conditions(void **state)
{
    (void)state;
    check_case(
        WORKER("w") WORKER(
            "v") "define i32 @main(i32 %n, ptr %a) {\n"
                 "  %t = alloca i64\n  %u = alloca i64\n"
                 "  %c = icmp sgt i32 %n, 1\n"
                 "  %d = icmp sgt i32 %n, 2\n"
                 "  br i1 %c, label %yes, label %go\n"
                 "yes:\n" START("%t", "@w") START(
                     "%u",
                     "@v") "  br label %go\n"
                           "go:\n" READ(
                               "during",
                               "@x") "  br i1 %c, label %join, label %next\n"
                                     "join:\n" JOIN(
                                         "h",
                                         "%t") "  br label %next\n"
                                               "next:\n" READ(
                                                   "joined",
                                                   "@x") "  br i1 %d, label %other, label %end\n"
                                                         "other:\n" JOIN(
                                                             "k", "%u") "  br label %end\n"
                                                                        "end:\n" READ("left", "@x")
                                                                            END,
        {"main:during", "w:x", RACY}, {"main:joined", "w:x", SERIAL}, {"main:joined", "v:x", RACY},
        {"main:left", "v:x", RACY});
}

/* How many there are is read from memory each time. */
static void test_bound_in_memory(void **state)
{
    (void)state;
    static const char text[] =
        WORKER("w") "@count = internal global i32 0\n"
                    "define i32 @main(i32 %n, ptr %v) {\n"
                    "  %t = alloca [64 x i64]\n"
                    "  store i32 %n, ptr @count\n"
                    "  br label %start\n"
                    "start:\n"
                    "  %i = phi i32 [ 0, %0 ], [ %j, %start ]\n"
                    "  %e = getelementptr i64, ptr %t, i32 %i\n" START(
                        "%e", "@w") "  %j = add i32 %i, 1\n"
                                    "  %b = load i32, ptr @count\n"
                                    "  %d = icmp slt i32 %j, %b\n"
                                    "  br i1 %d, label %start, label %started\n"
                                    "started:\nCHANGE  br label %join\n"
                                    "join:\n"
                                    "  %k = phi i32 [ 0, %started ], [ %l, %join ]\n"
                                    "  %f = getelementptr i64, ptr %t, i32 %k\n" JOIN(
                                        "h", "%f") "  %l = add i32 %k, 1\n"
                                                   "  %g = load i32, ptr @count\n"
                                                   "  %o = icmp slt i32 %l, %g\n"
                                                   "  br i1 %o, label %join, label %end\n"
                                                   "end:\n" READ("done", "@x") END;
    static const char *const changes[] = {"", "  store i32 1, ptr @count\n"};
    for (int i = 0; i < 2; i++) {
        char all[4096];
        const char *at = strstr(text, "CHANGE");
        snprintf(all, sizeof all, "%.*s%s%s", (int)(at - text), text, changes[i],
                 at + strlen("CHANGE"));
        check_case(all, {"main:done", "w:x", i == 0 ? SERIAL : RACY});
    }
}

static void test_nested_starts(void **state)
{
    (void)state;
    check_case("define ptr @child(ptr %p) {\n" READ("x", "@x") RETURN
               "define ptr @stray(ptr %p) {\n" READ("x", "@x") RETURN
               "define ptr @parent(ptr %p) {\n"
               "  %t = alloca i64\n" READ("before", "@x") START("%t", "@child") READ("during", "@x")
                   JOIN("h", "%t") READ("after", "@x") START("%t", "@stray")
                       RETURN MAIN START("%t", "@parent") READ("during", "@x") JOIN("h", "%t")
                           READ("after", "@x") END,
               {"parent:before", "child:x", SERIAL}, {"parent:during", "child:x", RACY},
               {"parent:after", "child:x", SERIAL}, {"main:during", "child:x", RACY},
               {"main:after", "child:x", SERIAL}, {"main:after", "stray:x", RACY},
               {"child:x", "stray:x", SERIAL}, {"main:after", "parent:during", SERIAL});
}

/* Each of many workers waits for its own helper; after the workers no helper is left. */
static void test_helpers_of_many(void **state)
{
    (void)state;
    check_case(WORKER("helper")
                   WORKER("shared") "@g = internal global i64 0\n"
                                    "define ptr @w(ptr %p) {\n"
                                    "  %t = alloca i64\n" START("%t", "@helper") JOIN("h", "%t")
                                        READ("own", "@x") START("@g", "@shared") JOIN("k", "@g")
                                            READ("others", "@x") RETURN MAIN START("%t", "@w")
                                                START("%u", "@w") JOIN("h", "%t") JOIN("k", "%u")
                                                    READ("end", "@x") END,
               {"w:own", "helper:x", RACY}, /* another worker's */
               {"main:end", "helper:x", SERIAL}, {"main:end", "shared:x", RACY},
               {"main:end", "w:own", SERIAL});
}

/* Each starts one of its own class, by itself or by another's help, and waits for it. */
static void test_classes_that_start_themselves(void **state)
{
    (void)state;
    check_case("define ptr @w(ptr %p) {\n"
               "  %t = alloca i64\n" START("%t", "@w") READ("x", "@x") JOIN("h", "%t")
                   RETURN MAIN READ("begin", "@x") START("%t", "@w") JOIN("a", "%t") END,
               {"w:x", "w:x", RACY}, {"main:begin", "w:x", SERIAL});
    /* Who waits for the first does not wait for those that it started. */
    check_case("define ptr @w(ptr %p) {\n"
               "  %t = alloca i64\n" START("%t", "@w") READ("x", "@x") RETURN MAIN START("%t", "@w")
                   JOIN("a", "%t") READ("end", "@x") END,
               {"w:x", "w:x", RACY}, {"main:end", "w:x", RACY});
    check_case("define ptr @v(ptr %p) {\n"
               "  %t = alloca i64\n" START("%t", "@w") READ("x", "@x") JOIN("h", "%t") RETURN
               "define ptr @w(ptr %p) {\n"
               "  %t = alloca i64\n" START("%t", "@v") READ("x", "@x") JOIN("h", "%t")
                   RETURN MAIN START("%t", "@v") END,
               {"v:x", "v:x", RACY}, {"w:x", "w:x", RACY}, {"v:x", "w:x", RACY});
}

static void test_siblings(void **state)
{
    (void)state;
    check_case(WORKER("first") WORKER("second") WORKER("third") MAIN START("%t", "@first")
                   JOIN("a", "%t") START("%t", "@second") START("%u", "@third") JOIN("b", "%u")
                       JOIN("c", "%t") END,
               {"first:x", "second:x", SERIAL}, {"first:x", "third:x", SERIAL},
               {"second:x", "third:x", RACY});
}

/* What the first of two leaves behind runs beside the second, which starts the same. */
static void test_left_behind(void **state)
{
    (void)state;
    check_case(
        WORKER("child") "define ptr @w(ptr %p) {\n"
                        "  %t = alloca i64\n" READ("begin", "@x") START("%t", "@child") RETURN
        "define i32 @main(i32 %n, ptr %v) {\n"
        "  %t = alloca i64\n"
        "  br label %loop\n"
        "loop:\n"
        "  %i = phi i32 [ 0, %0 ], [ %j, %loop ]\n" START("%t", "@w")
            JOIN("h", "%t") "  %j = add i32 %i, 1\n"
                            "  %d = icmp eq i32 %j, %n\n"
                            "  br i1 %d, label %done, label %loop\n"
                            "done:\n" END,
        {"w:begin", "child:x", RACY}, {"child:x", "child:x", RACY}, {"w:begin", "w:begin", SERIAL});
}

static void test_threads_that_exit(void **state)
{
    (void)state;
    check_case(WORKER("child") "define void @leave() {\n"
                               "  call void @pthread_exit(ptr null)\n  unreachable\n}\n"
                               "define ptr @w(ptr %p) {\n"
                               "  %t = alloca i64\n" START(
                                   "%t", "@child") "  %c = icmp eq ptr %p, null\n"
                                                   "  br i1 %c, label %quit, label %stay\n"
                                                   "quit:\n  call void @leave()\n  unreachable\n"
                                                   "stay:\n" JOIN("h", "%t")
                                                       RETURN MAIN START("%t", "@w") JOIN("h", "%t")
                                                           READ("after", "@x") END,
               {"main:after", "child:x", RACY});
}

static void test_helper_before_and_after(void **state)
{
    (void)state;
    check_case("define void @f() {\n" READ("a", "@x") "  ret void\n}\n"
                                                      "define void @g() {\n" READ(
                                                          "a", "@x") "  ret void\n}\n" WORKER("w")
                                                          MAIN
               "  call void @f()\n  call void @g()\n" START("%t", "@w") "  call void @g()\n" JOIN(
                   "h", "%t") "  call void @f()\n" END,
               {"f:a", "w:x", SERIAL}, {"g:a", "w:x", RACY});
}

static void test_handlers(void **state)
{
    (void)state;
    check_case("define void @handler(i32 %n) {\n" READ("x", "@x") "  ret void\n}\n" WORKER("w")
                   MAIN READ("before", "@x") "  call ptr @signal(i32 2, ptr @handler)\n" READ(
                       "after", "@x") START("%t", "@w") JOIN("h", "%t") READ("end", "@x") END,
               {"main:before", "handler:x", SERIAL}, {"main:after", "handler:x", RACY},
               {"main:end", "handler:x", RACY}, {"w:x", "handler:x", RACY},
               {"handler:x", "handler:x", RACY});
}

static void test_handler_without_threads(void **state)
{
    (void)state;
    check_case("define void @handler(i32 %n) {\n" READ(
                   "x", "@x") "  ret void\n}\n" MAIN
                              "  call ptr @signal(i32 2, ptr @handler)\n" READ("after", "@x") END,
               {"main:after", "handler:x", RACY}, {"handler:x", "handler:x", SERIAL});
}

static void test_constructors(void **state)
{
    (void)state;
    check_case(WORKER("w") "@t = internal global i64 0\n"
                           "@llvm.global_ctors = appending global [2 x { i32, ptr, ptr }] [\n"
                           "  { i32, ptr, ptr } { i32 200, ptr @late, ptr null },\n"
                           "  { i32, ptr, ptr } { i32 100, ptr @early, ptr null }]\n"
                           "define void @early() {\n" READ("a", "@x") START(
                               "@t", "@w") "  ret void\n}\n"
                                           "define void @late() {\n" READ(
                                               "a", "@x") "  ret void\n}\n" MAIN READ("a", "@x")
                                               JOIN("h", "@t") READ("b", "@x") END,
               {"early:a", "w:x", SERIAL}, {"late:a", "w:x", RACY}, {"main:a", "w:x", RACY},
               {"main:b", "w:x", SERIAL});
}

static void test_library(void **state)
{
    static const struct expected rows[] = {
        {"serve:x", "serve:x", RACY},      {"serve:x", "other:x", RACY},
        {"inner:x", "other:x", RACY},      {"serve:locked", "other:locked", GUARDED},
        {"unused:x", "unused:x", SERIAL},  {"serve:x", "background:x", RACY},
        {"other:x", "background:x", RACY}, {"ctor:x", "serve:x", SERIAL},
    };
    (void)state;
    check_case_as(
        "@t = internal global i64 0\n"
        "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [\n"
        "  { i32, ptr, ptr } { i32 100, ptr @ctor, ptr null }]\n"
        "define internal void @ctor() {\n" READ(
            "x", "@x") "  ret void\n}\n"
                       "define internal ptr @background(ptr %p) {\n" READ("x", "@x") RETURN
        "define internal void @inner() {\n" READ(
            "x", "@x") "  ret void\n}\n"
                       "define internal void @unused() {\n" READ(
                           "x", "@x") "  ret void\n}\n"
                                      "define void @serve() {\n" READ("x", "@x") LOCK("@m")
                                          READ("locked", "@x") UNLOCK("@m") START(
                                              "@t",
                                              "@background") "  call void @inner()\n  ret void\n}\n"
                                                             "define void @other() {\n" READ("x",
                                                                                             "@x")
                                                                 LOCK("@m") READ("locked", "@x")
                                                                     UNLOCK("@m") "  ret void\n}\n",
        true, rows, sizeof rows / sizeof rows[0]);
}

/* Unknown functions may call what was handed to any of them, in whichever thread calls one. */
static void test_callbacks(void **state)
{
    (void)state;
    check_case(
        "define internal void @back() {\n" READ("free", "@x") LOCK("@m") READ("held", "@x") UNLOCK(
            "@m") "  ret void\n}\n"
                  "define internal void @starter() {\n"
                  "  %t = alloca i64\n" START("%t", "@v") "  ret void\n}\n" WORKER(
                      "v") "define ptr @w(ptr %p) {\n" LOCK("@n") "  call void @unknown()\n" READ("kept",
                                                                                                  "@x")
                      UNLOCK("@n") RETURN MAIN READ(
                          "early", "@x") "  call void @tell_unknown(ptr @back)\n"
                                         "  call void @tell_unknown(ptr @starter)\n" READ(
                                             "late", "@x") START("%t", "@w")
                                             START("%u", "@w") "  call void @unknown()\n" END,
        {"back:free", "back:free", RACY}, {"back:held", "back:held", GUARDED},
        {"main:early", "v:x", SERIAL}, {"main:late", "v:x", RACY}, {"w:kept", "w:kept", GUARDED},
        {"w:kept", "back:free", RACY});
}

/* Functions that a library function calls back run in the calling thread, with what it holds. */
static void test_library_callbacks(void **state)
{
    (void)state;
    check_case("declare void @qsort(ptr, i64, i64, ptr)\n"
               "define i32 @compare(ptr %a, ptr %b) {\n" READ(
                   "x", "@x") "  ret i32 0\n}\n"
                              "define i32 @drop(ptr %a, ptr %b) {\n" READ("x", "@x") UNLOCK(
                                  "@m") "  ret i32 0\n}\n"
                                        "define ptr @w(ptr %p) {\n" LOCK(
                                            "@m") "  call void @qsort(ptr @y, i64 1, i64 4, ptr "
                                                  "@compare)\n" READ(
                                                      "kept",
                                                      "@x") "  call void @qsort(ptr @y, i64 1, "
                                                            "i64 4, ptr @drop)\n" READ("lost", "@x")
                                                                RETURN TWO_WORKERS,
               {"compare:x", "compare:x", GUARDED}, {"w:kept", "compare:x", GUARDED},
               {"w:lost", "compare:x", RACY}, {"drop:x", "drop:x", RACY});
}

static void test_classes(void **state)
{
    struct flow_case c = open_case(WORKER("w") MAIN START("%t", "@w") START(
        "%u", "@w") "  call ptr @signal(i32 2, ptr null)\n" END);
    const struct rh_function *w = get_function(c.m, "w");
    (void)state;
    assert_int_equal(rh_flow_thread_count(c.f), 3);
    assert_int_equal(rh_flow_thread(c.f, 0)->kind, RH_THREAD_MAIN);
    assert_null(rh_flow_thread(c.f, 0)->call);
    for (uint32_t i = 1; i < 3; i++) {
        const struct rh_thread *t = rh_flow_thread(c.f, i);
        assert_int_equal(t->id, i);
        assert_int_equal(t->kind, RH_THREAD_CREATED);
        assert_false(t->many);
        assert_int_equal(rh_idset_count(&t->entries), 1);
        uint64_t at = 0;
        uint32_t entry;
        assert_true(rh_idset_next(&t->entries, &at, &entry));
        assert_ptr_equal(rh_pointsto_instance(c.p, entry)->fn, w);
        assert_ptr_equal(t->call->fn, get_function(c.m, "main"));
    }
    close_case(&c);
}

/* A call that starts a thread runs both before and after there is one. */
static void test_occurrences_of_a_start(void **state)
{
    struct flow_case c = open_case(WORKER("w") MAIN START("%t", "@w") END);
    uint32_t count, at_start;
    struct rh_function *fn = get_function(c.m, "main");
    const uint32_t *in = rh_pointsto_instances_of(c.p, fn, &count);
    const struct rh_occurrence *o =
        rh_flow_occurrences(c.f, in[0], get_first(fn, RH_OP_CALL), &at_start);
    (void)state;
    assert_int_equal(at_start, 2);
    assert_true(rh_idset_is_empty(&c.f->alive_threads.data[o[0].alive]));
    assert_true(rh_idset_has(&c.f->alive_threads.data[o[1].alive], 1));
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_before_and_after_a_start),
        cmocka_unit_test(test_joins),
        cmocka_unit_test(test_join_of_another),
        cmocka_unit_test(test_missing_join),
        cmocka_unit_test(test_join_on_error_path),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_start_and_join_in_one_loop),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_bound_in_memory),
        cmocka_unit_test(test_nested_starts),
        cmocka_unit_test(test_helpers_of_many),
        cmocka_unit_test(test_classes_that_start_themselves),
        cmocka_unit_test(test_siblings),
        cmocka_unit_test(test_left_behind),
        cmocka_unit_test(test_threads_that_exit),
        cmocka_unit_test(test_helper_before_and_after),
        cmocka_unit_test(test_handlers),
        cmocka_unit_test(test_handler_without_threads),
        cmocka_unit_test(test_constructors),
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_callbacks),
        cmocka_unit_test(test_library_callbacks),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_occurrences_of_a_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
