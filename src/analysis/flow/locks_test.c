/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which locks are held where: what is taken, released, renamed and lost. */
#include "analysis/flow/testing.h"

#include "base/strbuf.h"

static void test_global_lock(void **state)
{
    (void)state;
    check_case("define ptr @w(ptr %p) {\n" LOCK("@m") READ("inside", "@x") UNLOCK("@m")
                   READ("behind", "@x") LOCK("@n") READ("other", "@x") UNLOCK("@n")
                       RETURN TWO_WORKERS,
               {"w:inside", "w:inside", GUARDED}, {"w:behind", "w:behind", RACY},
               {"w:inside", "w:behind", RACY}, {"w:inside", "w:other", RACY},
               {"w:other", "w:other", GUARDED});
}

static void test_wrapper_functions(void **state)
{
    (void)state;
    check_case(
        "define void @take(ptr %l) noinline {\n" LOCK(
            "%l") "  ret void\n}\n"
                  "define void @drop(ptr %l) noinline {\n" UNLOCK(
                      "%l") "  ret void\n}\n"
                            "define void @take_m() noinline {\n" LOCK(
                                "@m") "  ret void\n}\n"
                                      "define ptr @w(ptr %p) {\n"
                                      "  call void @take(ptr @m)\n" READ(
                                          "inside",
                                          "@x") "  call void @drop(ptr @m)\n" READ("behind",
                                                                                   "@x") "  call "
                                                                                         "void "
                                                                                         "@take_m()"
                                                                                         "\n" READ(
                                                                                             "agai"
                                                                                             "n",
                                                                                             "@x") "  call void @drop(ptr @m)\n" RETURN
                                                                                             TWO_WORKERS,
        {"w:inside", "w:inside", GUARDED}, {"w:inside", "w:again", GUARDED},
        {"w:behind", "w:behind", RACY});
}

/* The optimiser knows better than the code what a pointer points to: the lock is taken through it,
 * the memory accessed by its name. */
static void test_wrapper_of_one_place(void **state)
{
    (void)state;
    check_case(
        "@home = internal global ptr null\n"
        "define void @take(ptr %l) noinline {\n" LOCK(
            "%l") "  ret void\n}\n"
                  "define void @drop(ptr %l) noinline {\n" UNLOCK(
                      "%l") "  ret void\n}\n"
                            "define ptr @w(ptr %p) {\n"
                            "  %l = load ptr, ptr @home\n"
                            "  call void @take(ptr %l)\n" READ(
                                "one", "@x") "  call void @drop(ptr %l)\n"
                                             "  call void @take(ptr @m)\n" READ(
                                                 "two", "@x") "  call void @drop(ptr @m)\n"
                                                              "  call void @take(ptr @n)\n" READ(
                                                                  "three",
                                                                  "@x") "  call void @drop(ptr "
                                                                        "@n)\n" READ("behind", "@x")
                                                                            RETURN
        "define i32 @main() {\n"
        "  %t = alloca i64\n"
        "  %u = alloca i64\n"
        "  store ptr @m, ptr @home\n" START("%t", "@w") START("%u", "@w") "  ret i32 0\n}\n",
        {"w:one", "w:two", GUARDED}, {"w:one", "w:one", GUARDED}, {"w:one", "w:three", RACY},
        {"w:one", "w:behind", RACY});
}

static void test_release_in_callee(void **state)
{
    (void)state;
    check_case(
        "define void @drop_m() {\n" UNLOCK(
            "@m") "  ret void\n}\n"
                  "define void @drop_n() {\n" UNLOCK(
                      "@n") "  ret void\n}\n"
                            "define void @drop_some(i1 %c) {\n"
                            "  %l = select i1 %c, ptr @m, ptr @n\n" UNLOCK(
                                "%l") "  ret void\n}\n"
                                      "define ptr @w(ptr %p) {\n" LOCK(
                                          "@m") "  call void @drop_n()\n" READ("kept",
                                                                               "@x") "  call void "
                                                                                     "@drop_m()"
                                                                                     "\n" READ("los"
                                                                                               "t",
                                                                                               "@x")
                                                                                         LOCK("@m") "  call void @drop_some(i1 true)\n" READ(
                                                                                             "may_"
                                                                                             "be",
                                                                                             "@x") RETURN
                                                                                             TWO_WORKERS,
        {"w:kept", "w:kept", GUARDED}, {"w:lost", "w:lost", RACY}, {"w:may_be", "w:may_be", RACY});
}

static void test_branches(void **state)
{
    (void)state;
    check_case("define ptr @w(ptr %p) {\n"
               "  %c = icmp eq ptr %p, null\n"
               "  br i1 %c, label %yes, label %no\n"
               "yes:\n" LOCK("@m") LOCK("@n")
                   READ("one", "@x") "  br label %both\n"
                                     "no:\n" LOCK("@m") "  br label %both\n"
                                                        "both:\n" READ("common", "@x") UNLOCK("@m")
                                                            READ("half", "@y") RETURN TWO_WORKERS,
               {"w:one", "w:common", GUARDED}, {"w:common", "w:common", GUARDED},
               {"w:half", "w:half", RACY});
}

static void test_try(void **state)
{
    (void)state;
    check_case("define ptr @w(ptr %p) {\n"
               "  %r = call i32 @pthread_mutex_trylock(ptr @m)\n" READ(
                   "undecided",
                   "@x") "  %c = icmp eq i32 %r, 0\n"
                         "  br i1 %c, label %yes, label %no\n"
                         "yes:\n" READ("taken", "@x") UNLOCK(
                             "@m") "  br i1 %c, label %again, label %no\n"
                                   "again:\n" READ("over", "@x") "  br label %no\n"
                                                                 "no:\n" READ("not_taken", "@x")
                                                                     RETURN TWO_WORKERS,
               {"w:taken", "w:taken", GUARDED}, {"w:undecided", "w:undecided", RACY},
               {"w:over", "w:over", RACY}, {"w:not_taken", "w:not_taken", RACY});
}

static void test_forms_of_try(void **state)
{
    (void)state;
    check_case(
        "declare i32 @__cxa_guard_acquire(ptr)\n"
        "define ptr @w(ptr %p) {\n"
        "  %r = call i32 @pthread_mutex_trylock(ptr @m)\n"
        "  %ne = icmp ne i32 %r, 0\n"
        "  %not = xor i1 %ne, true\n"
        "  %d = icmp ne ptr %p, null\n"
        "  %both = select i1 %not, i1 %d, i1 false\n"
        "  br i1 %both, label %yes, label %second\n"
        "yes:\n" READ("by_and", "@x") UNLOCK(
            "@m") "  br label %second\n"
                  "second:\n"
                  "  %s = call i32 @pthread_mutex_trylock(ptr @m)\n"
                  "  switch i32 %s, label %busy [ i32 0, label %got ]\n"
                  "got:\n" READ("by_switch", "@x") UNLOCK(
                      "@m") "  br label %third\n"
                            "busy:\n" READ("by_default",
                                           "@x") "  br label %third\n"
                                                 "third:\n"
                                                 "  %g = call i32 @__cxa_guard_acquire(ptr @n)\n"
                                                 "  %z = icmp eq i32 %g, 0\n"
                                                 "  br i1 %z, label %done, label %init\n"
                                                 "init:\n" READ("by_one",
                                                                "@y") "  br label %done\n"
                                                                      "done:\n" RETURN TWO_WORKERS,
        {"w:by_and", "w:by_and", GUARDED}, {"w:by_switch", "w:by_and", GUARDED},
        {"w:by_default", "w:by_default", RACY}, {"w:by_one", "w:by_one", GUARDED});
}

static void test_reader_writer_lock(void **state)
{
    (void)state;
    check_case(
        "define ptr @w(ptr %p) {\n"
        "  call i32 @pthread_rwlock_rdlock(ptr @m)\n" READ(
            "shared",
            "@x") "  call i32 @pthread_rwlock_unlock(ptr @m)\n" READ("none",
                                                                     "@x") "  call i32 "
                                                                           "@pthread_rwlock_wrlock("
                                                                           "ptr @m)\n" READ(
                                                                               "alone",
                                                                               "@x") "  call i32 "
                                                                                     "@pthread_"
                                                                                     "rwlock_"
                                                                                     "unlock(ptr "
                                                                                     "@m)\n" RETURN
                                                                                         TWO_WORKERS,
        {"w:shared", "w:shared", RACY}, {"w:shared", "w:alone", GUARDED},
        {"w:alone", "w:alone", GUARDED}, {"w:none", "w:alone", RACY});
}

/* Held for writing on one way and for reading on the other is held for reading. */
static void test_weaker_mode_wins(void **state)
{
    (void)state;
    check_case(
        "define ptr @w(ptr %p) {\n"
        "  %c = icmp eq ptr %p, null\n"
        "  br i1 %c, label %r, label %w\n"
        "r:\n  call i32 @pthread_rwlock_rdlock(ptr @m)\n  br label %both\n"
        "w:\n  call i32 @pthread_rwlock_wrlock(ptr @m)\n  br label %both\n"
        "both:\n" READ("a", "@x") "  call i32 @pthread_rwlock_unlock(ptr @m)\n" RETURN TWO_WORKERS,
        {"w:a", "w:a", RACY});
}

static void test_condition_wait(void **state)
{
    (void)state;
    check_case("@c = internal global [48 x i8] zeroinitializer\n"
               "define ptr @w(ptr %p) {\n" LOCK(
                   "@m") "  call i32 @pthread_cond_wait(ptr @c, ptr @m)\n" READ("woken", "@x")
                   UNLOCK("@m") RETURN TWO_WORKERS,
               {"w:woken", "w:woken", GUARDED});
}

static const char list[] =
    "%node = type { [40 x i8], i32, ptr }\n"
    "@head = internal global ptr null\n"
    "define i32 @main() {\n"
    "  %t = alloca i64\n"
    "  %u = alloca i64\n"
    "  br label %more\n"
    "more:\n"
    "  %old = phi ptr [ null, %0 ], [ %new, %more ]\n"
    "  %i = phi i32 [ 0, %0 ], [ %next, %more ]\n"
    "  %new = call ptr @malloc(i64 56)\n"
    "  %link = getelementptr %node, ptr %new, i64 0, i32 2\n"
    "  store ptr %old, ptr %link\n"
    "  %next = add i32 %i, 1\n"
    "  %c = icmp eq i32 %next, 9\n"
    "  br i1 %c, label %done, label %more\n"
    "done:\n"
    "  store ptr %new, ptr @head\n" START("%t", "@w") START("%u", "@w") "  ret i32 0\n}\n";

static struct flow_case open_list(const char *worker)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    rh_strbuf_addf(&text, "%s%s", list, worker);
    struct flow_case c = open_case(rh_strbuf_text(&text));
    rh_strbuf_release(&text);
    return c;
}

/* The lock of one round is not the lock of the next. */
static void test_loop_computes_the_root_anew(void **state)
{
    struct flow_case c = open_list(
        "define ptr @w(ptr %a) {\n"
        "  %first = load ptr, ptr @head\n"
        "  br label %loop\n"
        "loop:\n"
        "  %p = phi ptr [ %first, %0 ], [ %q, %more ]\n"
        "  %v = getelementptr %node, ptr %p, i64 0, i32 1\n" READ("early", "%v") LOCK("%p")
            READ("inside", "%v") "  %link = getelementptr %node, ptr %p, i64 0, i32 2\n"
                                 "  %q = load ptr, ptr %link\n"
                                 "  %c = icmp eq ptr %q, null\n"
                                 "  br i1 %c, label %done, label %more\n"
                                 "more:\n"
                                 "  br label %loop\n"
                                 "done:\n" RETURN);
    (void)state;
    assert_int_equal(judge(&c, "w:inside", "w:inside"), GUARDED);
    assert_int_equal(judge(&c, "w:early", "w:early"), RACY);
    close_case(&c);
}

static void test_hand_over_hand(void **state)
{
    struct flow_case c = open_list(
        "define ptr @w(ptr %a) {\n"
        "  %first = load ptr, ptr @head\n" LOCK(
            "%first") "  br label %loop\n"
                      "loop:\n"
                      "  %p = phi ptr [ %first, %0 ], [ %q, %more ]\n"
                      "  %v = getelementptr %node, ptr %p, i64 0, i32 1\n" READ(
                          "here", "%v") "  %link = getelementptr %node, ptr %p, i64 0, i32 2\n"
                                        "  %q = load ptr, ptr %link\n"
                                        "  %c = icmp eq ptr %q, null\n"
                                        "  br i1 %c, label %done, label %more\n"
                                        "more:\n" LOCK("%q")
                                            UNLOCK("%p") "  %u = getelementptr %node, ptr %q, i64 "
                                                         "0, i32 1\n" READ("there", "%u") READ(
                                                             "left", "%v") "  br label %loop\n"
                                                                           "done:\n" UNLOCK("%p")
                                                                               READ("end", "%v")
                                                                                   RETURN);
    (void)state;
    assert_int_equal(judge(&c, "w:here", "w:here"), GUARDED);
    assert_int_equal(judge(&c, "w:here", "w:there"), GUARDED);
    assert_int_equal(judge(&c, "w:left", "w:here"), RACY);
    assert_int_equal(judge(&c, "w:end", "w:here"), RACY);
    close_case(&c);
}

/* A callee that takes and releases a lock of its own leaves those of the caller alone, also where
 * it cannot name them and all of them come from one place. */
static void test_balanced_callee(void **state)
{
    struct flow_case c = open_list("define void @work(ptr %q) {\n" LOCK("%q") UNLOCK(
        "%q") "  ret void\n}\n"
              "define void @odd(ptr %q) {\n" UNLOCK("%q") LOCK(
                  "%q") "  ret void\n}\n"
                        "define ptr @w(ptr %p) {\n"
                        "  %a = load volatile ptr, ptr @head\n"
                        "  %b = load volatile ptr, ptr @head\n"
                        "  %v = getelementptr %node, ptr %a, i64 0, i32 "
                        "1\n" LOCK("%a") "  call void @work(ptr %b)\n" READ(
                            "kept", "%v") "  call void @odd(ptr %b)\n" READ("lost", "%v") RETURN);
    (void)state;
    assert_int_equal(judge(&c, "w:kept", "w:kept"), GUARDED);
    assert_int_equal(judge(&c, "w:lost", "w:lost"), RACY);
    close_case(&c);
}

/* One lock known by two names is gone under both when it is released under one. */
static void test_two_names_of_one_taking(void **state)
{
    struct flow_case c = open_list(
        "define ptr @w(ptr %a) {\n"
        "  %first = load ptr, ptr @head\n"
        "  %w = getelementptr %node, ptr %first, i64 0, i32 1\n" LOCK(
            "%first") "  br label %loop\n"
                      "loop:\n"
                      "  %p = phi ptr [ %first, %0 ], [ %p, %loop ]\n"
                      "  %v = getelementptr %node, ptr %p, i64 0, i32 1\n" READ("old", "%w")
                          READ("new", "%v") "  %c = icmp eq ptr %p, %a\n"
                                            "  br i1 %c, label %done, label %loop\n"
                                            "done:\n" UNLOCK("%p") READ("gone", "%w") RETURN);
    (void)state;
    assert_int_equal(judge(&c, "w:old", "w:old"), GUARDED);
    assert_int_equal(judge(&c, "w:new", "w:old"), GUARDED);
    assert_int_equal(judge(&c, "w:gone", "w:old"), RACY);
    close_case(&c);
}

static void test_lock_taken_twice(void **state)
{
    (void)state;
    check_case("define ptr @w(ptr %p) {\n" LOCK("@m") LOCK("@m") READ("twice", "@x") UNLOCK("@m")
                   READ("once", "@x") UNLOCK("@m") RETURN TWO_WORKERS,
               {"w:twice", "w:twice", GUARDED}, {"w:once", "w:once", RACY});
}

static void test_recursion(void **state)
{
    (void)state;
    check_case(
        "define void @f(i32 %k) {\n"
        "  %c = icmp eq i32 %k, 0\n"
        "  br i1 %c, label %end, label %down\n"
        "down:\n"
        "  %less = sub i32 %k, 1\n"
        "  call void @f(i32 %less)\n" READ(
            "up",
            "@x") "  br label %end\n"
                  "end:\n" READ(
                      "a",
                      "@x") "  ret void\n}\n"
                            "define void @g(i32 %k) {\n" READ(
                                "b",
                                "@y") "  %c = icmp eq i32 %k, 0\n"
                                      "  br i1 %c, label %end, label %down\n"
                                      "down:\n" LOCK(
                                          "@m") "  %less = sub i32 %k, 1\n"
                                                "  call void @g(i32 %less)\n" UNLOCK(
                                                    "@m") "  br label %end\n"
                                                          "end:\n  ret void\n}\n"
                                                          "define ptr @w(ptr %p) {\n" LOCK(
                                                              "@m") "  call void @f(i32 "
                                                                    "5)\n" READ("c", "@x") UNLOCK(
                                                                        "@m") "  call "
                                                                              "void "
                                                                              "@g(i32 "
                                                                              "5)\n" RETURN
                                                                                  TWO_WORKERS,
        {"f:a", "f:a", GUARDED}, {"f:up", "f:a", GUARDED}, {"w:c", "f:a", GUARDED},
        {"g:b", "g:b", RACY});
}

/* Each call of a helper is looked at with what its caller holds. */
static void test_contexts(void **state)
{
    (void)state;
    check_case("define void @f() {\n" READ(
                   "a", "@x") "  ret void\n}\n"
                              "define void @g() {\n" READ(
                                  "a", "@x") "  ret void\n}\n"
                                             "define ptr @w(ptr %p) {\n" LOCK(
                                                 "@m") "  call void @f()\n" UNLOCK("@m") LOCK("@n")
                                                 LOCK("@m") "  call void @f()\n" UNLOCK("@m")
                                                     UNLOCK("@n") "  call void @g()\n" LOCK(
                                                         "@m") "  call void @g()\n" UNLOCK("@m")
                                                         RETURN TWO_WORKERS,
               {"f:a", "f:a", GUARDED}, {"g:a", "g:a", RACY}, {"f:a", "g:a", RACY});
}

/* Too many ways to be called are looked at as one, which holds what all hold. */
static void test_too_many_contexts(void **state)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    rh_strbuf_add(&text,
                  "define void @f() {\n" READ("a", "@x") "  ret void\n}\n"
                                                         "define void @g() {\n" READ("a", "@x")
                                                             LOCK("@n")
                                                                 UNLOCK("@n") "  ret void\n}\n");
    for (int i = 0; i < 60; i++)
        rh_strbuf_addf(&text, "@m%d = internal global [40 x i8] zeroinitializer\n", i);
    rh_strbuf_add(&text, "define ptr @w(ptr %p) {\n" LOCK("@m"));
    for (int i = 0; i < 60; i++)
        rh_strbuf_addf(&text, LOCK("@m%d") "  call void @f()\n  call void @g()\n" UNLOCK("@m%d"), i,
                       i);
    rh_strbuf_add(&text, READ("held", "@x") UNLOCK("@m") READ("free", "@x") RETURN TWO_WORKERS);
    (void)state;
    check_case(rh_strbuf_text(&text), {"f:a", "f:a", GUARDED}, {"g:a", "g:a", GUARDED},
               {"w:held", "f:a", GUARDED}, {"w:free", "f:a", RACY});
    rh_strbuf_release(&text);
}

/* Calls through pointers to very many functions: what one of them releases may be gone. */
static void test_many_targets(void **state)
{
    (void)state;
    for (int drops = 0; drops < 2; drops++) {
        struct rh_strbuf text = RH_STRBUF_INIT;
        rh_strbuf_add(&text, "@table = internal constant [12 x ptr] [ptr @f0");
        for (int i = 1; i < 12; i++)
            rh_strbuf_addf(&text, ", ptr @f%d", i);
        rh_strbuf_add(&text, "]\n");
        for (int i = 0; i < 12; i++)
            rh_strbuf_addf(
                &text, "define void @f%d(ptr %%p) {\n  %%a = load i32, ptr @x\n%s  ret void\n}\n",
                i, drops && i == 7 ? UNLOCK("@m") : "");
        rh_strbuf_add(&text,
                      "define ptr @w(ptr %p) {\n" LOCK(
                          "@m") "  %i = load volatile i64, ptr @y\n"
                                "  %e = getelementptr [12 x ptr], ptr @table, i64 0, i64 %i\n"
                                "  %f = load ptr, ptr %e\n"
                                "  call void %f(ptr %p)\n" READ("after", "@x") UNLOCK("@m")
                                    RETURN TWO_WORKERS);
        check_case(rh_strbuf_text(&text), {"f3:a", "f5:a", GUARDED},
                   {"w:after", "w:after", drops ? RACY : GUARDED});
        rh_strbuf_release(&text);
    }
}

static void test_unknown_functions(void **state)
{
    (void)state;
    check_case("define ptr @w(ptr %p) {\n"
               "  call void @tell_unknown(ptr @n)\n" LOCK("@m")
                   LOCK("@n") "  call void @unknown()\n" READ("unknown", "@x") UNLOCK("@m")
                       READ("told", "@x") RETURN TWO_WORKERS,
               {"w:unknown", "w:unknown", GUARDED}, {"w:told", "w:told", RACY});
}

/* What a second return finds may be anything that was true since the first. */
static void test_second_return(void **state)
{
    (void)state;
    check_case("@env = internal global [200 x i8] zeroinitializer\n"
               "declare i32 @_setjmp(ptr) returns_twice\n"
               "declare void @longjmp(ptr, i32) noreturn\n"
               "define void @jump() {\n" UNLOCK(
                   "@m") "  call void @longjmp(ptr @env, i32 1)\n  unreachable\n}\n"
                         "define ptr @w(ptr %p) {\n" LOCK("@m")
                             LOCK("@n") "  call void @inner()\n" READ("behind", "@x") UNLOCK("@n")
                                 READ("lost", "@x") RETURN
               "define void @inner() noinline {\n"
               "  %r = call i32 @_setjmp(ptr @env) returns_twice\n" READ(
                   "inside", "@x") "  %c = icmp eq i32 %r, 0\n"
                                   "  br i1 %c, label %first, label %second\n"
                                   "first:\n  call void @jump()\n  unreachable\n"
                                   "second:\n" READ("returned", "@x") "  ret void\n}\n" TWO_WORKERS,
               {"inner:inside", "inner:returned", GUARDED}, {"w:behind", "w:behind", GUARDED},
               {"w:lost", "w:lost", RACY});
}

static void test_exceptions(void **state)
{
    (void)state;
    check_case(
        "declare i32 @__gxx_personality_v0(...)\n"
        "define void @f() {\n" UNLOCK("@m") "  call void @unknown()\n" LOCK(
            "@m") "  ret void\n}\n"
                  "define ptr @w(ptr %p) personality ptr @__gxx_personality_v0 {\n" LOCK("@m") LOCK(
                      "@n") "  invoke void @f() to label %normal unwind label %thrown\n"
                            "normal:\n" READ(
                                "fine", "@x") "  br label %done\n"
                                              "thrown:\n"
                                              "  %e = landingpad { ptr, i32 } cleanup\n" READ(
                                                  "caught", "@x") UNLOCK("@n")
                                                  READ("bare", "@x") "  br label %done\n"
                                                                     "done:\n" RETURN TWO_WORKERS,
        {"w:fine", "w:fine", GUARDED}, {"w:caught", "w:fine", GUARDED}, {"w:bare", "w:fine", RACY});
}

static void test_names_for_people(void **state)
{
    struct flow_case c =
        open_case("define ptr @w(ptr %p) {\n" LOCK("@m") READ("a", "@x") UNLOCK("@m")
                      READ("b", "@x") "  call i32 @pthread_rwlock_rdlock(ptr @n)\n" READ("c", "@x")
                          RETURN TWO_WORKERS);
    static const struct {
        const char *where, *text;
    } rows[] = {{"w:a", "&m"}, {"w:b", ""}, {"w:c", "&n for reading"}};
    uint32_t instances, count;
    const uint32_t *w = rh_pointsto_instances_of(c.p, get_function(c.m, "w"), &instances);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rh_strbuf text = RH_STRBUF_INIT;
        struct rh_access a = find_access(&c, rows[i].where);
        const struct rh_occurrence *o = rh_flow_occurrences(c.f, w[0], a.inst, &count);
        assert_true(count > 0);
        rh_flow_describe_locks(c.f, o[0].locks, &text);
        assert_string_equal(rh_strbuf_text(&text), rows[i].text);
        rh_strbuf_release(&text);
    }
    close_case(&c);
}

static void test_locks_as_listed(void **state)
{
    struct flow_case c = open_case("define ptr @w(ptr %p) {\n"
                                   "  %e = getelementptr i8, ptr @m, i64 8\n" LOCK("%e")
                                       READ("a", "@x") RETURN TWO_WORKERS);
    uint32_t count;
    const uint32_t *w = rh_pointsto_instances_of(c.p, get_function(c.m, "w"), &count);
    struct rh_access a = find_access(&c, "w:a");
    const struct rh_occurrence *o = rh_flow_occurrences(c.f, w[0], a.inst, &count);
    const struct rh_lock *locks = rh_flow_locks(c.f, o[0].locks, &count);
    (void)state;
    assert_int_equal(count, 1);
    assert_ptr_equal(locks[0].root, rh_ir_find_global(c.m, "m"));
    assert_int_equal(locks[0].offset, 8);
    assert_int_equal(locks[0].mode, RH_LOCK_WRITE);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_global_lock),
        cmocka_unit_test(test_wrapper_functions),
        cmocka_unit_test(test_wrapper_of_one_place),
        cmocka_unit_test(test_release_in_callee),
        cmocka_unit_test(test_balanced_callee),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_try),
        cmocka_unit_test(test_forms_of_try),
        cmocka_unit_test(test_reader_writer_lock),
        cmocka_unit_test(test_weaker_mode_wins),
        cmocka_unit_test(test_condition_wait),
        cmocka_unit_test(test_loop_computes_the_root_anew),
        cmocka_unit_test(test_hand_over_hand),
        cmocka_unit_test(test_two_names_of_one_taking),
        cmocka_unit_test(test_lock_taken_twice),
        cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_too_many_contexts),
        cmocka_unit_test(test_many_targets),
        cmocka_unit_test(test_unknown_functions),
        cmocka_unit_test(test_second_return),
        cmocka_unit_test(test_exceptions),
        cmocka_unit_test(test_names_for_people),
        cmocka_unit_test(test_locks_as_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
